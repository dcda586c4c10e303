#include "cli/doubts.h"

#include <filesystem>
#include <system_error>

#include "config/doubtful_keys.h"
#include "config/open_file.h"
#include "config/option_table.h"
#include "config/settings_builder.h"
#include "forelock/configuration_error.h"

namespace forelock::cli {

void note_doubts(const std::string& file, const Console& console) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) return;
  const auto format = file.ends_with(".properties") ? Settings::Format::properties : Settings::Format::yaml;
  try {
    const std::string text = config::OpenFile(file).read(config::largest_file);
    for (const config::Property& property : config::doubtful_keys(text, format, file)) {
      const std::string_view nearest = config::nearest_key(property.key);
      console.warn(file + ':' + std::to_string(property.line) + ": " + property.key +
                   ": is left to the application, but looks like a key of ours" +
                   (nearest.empty() ? "" : "; is " + std::string(nearest) + " meant?"));
    }
  } catch (const std::system_error&) {
    // It was there a moment ago, and has been read.
  } catch (const ConfigurationException&) {
  }
}

}  // namespace forelock::cli
