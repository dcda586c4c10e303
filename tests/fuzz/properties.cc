// Any bytes as a properties file: no crash; what is read can be written and read again; settings take it or refuse it.
#include "config/properties.h"
#include "forelock/settings.h"
#include "support/standard.h"

namespace {

using forelock::config::Property;

// Every byte of ASCII as an escape of its own, the rest as it is.
void write(std::string_view text, std::string& out) {
  constexpr std::string_view digits = "0123456789abcdef";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80) {
      out += c;
    } else {
      out += "\\u00";
      out += digits[byte >> 4];
      out += digits[byte & 0xF];
    }
  }
}

std::string written(const std::vector<Property>& properties) {
  std::string text;
  for (const Property& property : properties) {
    write(property.key, text);
    text += '=';
    write(property.value, text);
    text += '\n';
  }
  return text;
}

void check(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  try {
    const std::vector<Property> properties = forelock::config::parse_properties(text, "f");
    const std::vector<Property> again = forelock::config::parse_properties(written(properties), "f");
    check(again.size() == properties.size());
    for (std::size_t i = 0; i < again.size(); ++i) {
      check(again[i].key == properties[i].key);
      check(again[i].value == properties[i].value);
      check(again[i].line == static_cast<int>(i) + 1);
      check(properties[i].line >= 1 && static_cast<std::size_t>(properties[i].line) <= size + 1);
    }
  } catch (const forelock::ConfigurationException& error) {
    check(!error.problems().empty());
    check(error.problems().front().line >= 1);
  }
  try {
    const auto settings = forelock::Settings::from_string(text, forelock::Settings::Format::properties, "f");
    check(!settings.entries().empty());
    check(!settings.servers().empty());
  } catch (const forelock::ConfigurationException& error) {
    check(!error.problems().empty());
  }
  return 0;
}
