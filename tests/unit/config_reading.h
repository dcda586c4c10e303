// Settings from texts and files, and what is said against them.
#pragma once

#include <sys/stat.h>

#include "forelock/settings.h"
#include "support/temporary_directory.h"
#include "support/test.h"

namespace forelock {

inline std::vector<std::string> problems_of(const std::function<void()>& action) {
  std::vector<std::string> lines;
  try {
    action();
  } catch (const ConfigurationException& error) {
    for (const ConfigurationProblem& problem : error.problems()) lines.push_back(to_string(problem));
  }
  return lines;
}

inline Settings read(std::string_view text, const std::vector<Settings::Override>& overrides = {}) {
  return Settings::from_string(text, Settings::Format::properties, "f", overrides);
}

inline std::vector<std::string> problems_in(std::string_view text,
                                            const std::vector<Settings::Override>& overrides = {}) {
  return problems_of([&] { read(text, overrides); });
}

inline std::string entry(const Settings& settings, std::string_view key) {
  for (const Settings::Entry& entry : settings.entries()) {
    if (entry.key == key) return entry.value + " (" + entry.origin + ")" + (entry.secret ? " secret" : "");
  }
  return "none";
}

class Folder : public test::TemporaryDirectory {
 public:
  std::filesystem::path write(const std::string& name, std::string_view text, mode_t mode = 0600) const {
    const std::filesystem::path file = path() / name;
    std::ofstream(file, std::ios::binary) << text;
    ::chmod(file.c_str(), mode);
    return file;
  }
};

}  // namespace forelock
