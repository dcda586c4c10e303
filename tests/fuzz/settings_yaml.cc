// Any bytes as YAML settings: valid settings or a ConfigurationException that says something, and nothing else.
#include "forelock/settings.h"
#include "support/standard.h"

namespace {

void check(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using forelock::Settings;
  const std::string text(data, data + size);
  try {
    const Settings settings = Settings::from_string(text, Settings::Format::yaml, "f");
    check(settings.foreground_prefix() < settings.background_prefix());
    check(!settings.servers().empty());
    for (const Settings::Entry& entry : settings.entries()) {
      check(!entry.secret || entry.value == "******");
      check(!entry.origin.empty());
    }
  } catch (const forelock::ConfigurationException& error) {
    check(!error.problems().empty());
    for (const forelock::ConfigurationProblem& problem : error.problems()) {
      check(!problem.message.empty());
      check(forelock::to_string(problem).find('\n') == std::string::npos);
    }
  }
  return 0;
}
