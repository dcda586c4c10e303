#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capi/config_object.h"
#include "capi/handles.h"
#include "forelock/c.h"

using namespace forelock;
using namespace forelock::capi;

namespace {

constexpr const char* origin = "set by the program";

// `read` comes after the check: a handle that could not be told would be freed by nobody.
template <class Read>
void open_config(fl_config* config, Read&& read) {
  fl_config& result = target(config);
  result = add(std::make_unique<ConfigObject>(read()));
}

}  // namespace

extern "C" {

int32_t fl_config_new(fl_config* config) {
  return capi::run([&] { open_config(config, [] { return Settings(); }); });
}

int32_t fl_config_load(const char* path, fl_config* config) {
  return capi::run([&] { open_config(config, [&] { return Settings::load(text_of(path, "path")); }); });
}

int32_t fl_config_parse(const char* text, size_t length, const char* name, fl_config* config) {
  return capi::run([&] {
    require(text != nullptr || length == 0, "the text is null");
    const std::string_view view = length == 0 ? std::string_view() : std::string_view(text, length);
    open_config(config,
                [&] { return Settings::from_string(view, Settings::Format::properties, text_of(name, "name")); });
  });
}

int32_t fl_config_set(fl_config config, const char* key, const char* value) {
  return fl_config_set_all(config, &key, &value, 1);
}

int32_t fl_config_set_all(fl_config config, const char* const* keys, const char* const* values, size_t count) {
  return capi::run([&] {
    const auto settings = find<ConfigObject>(config);
    require((keys != nullptr && values != nullptr) || count == 0, "the keys or the values are null");
    std::vector<Settings::Override> overrides;
    for (size_t i = 0; i < count; ++i) {
      overrides.push_back({text_of(keys[i], "key"), text_of(values[i], "value"), origin});
    }
    settings->set(overrides);
  });
}

int32_t fl_config_get(fl_config config, const char* key, const char** value) {
  thread_local std::string text;
  return capi::run([&] {
    const auto settings = find<ConfigObject>(config);
    const std::string wanted = text_of(key, "key");
    for (const Settings::Entry& entry : settings->settings().entries()) {
      if (entry.key != wanted) continue;
      text = entry.value;
      target(value) = text.c_str();
      return;
    }
    throw RequestRejectedException(ErrorCode::invalid_argument, {}, "there is no setting \"" + wanted + "\"");
  });
}

int32_t fl_config_free(fl_config config) {
  return capi::run([&] { remove<ConfigObject>(config); });
}
}
