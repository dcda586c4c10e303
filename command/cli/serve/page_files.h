// The files of the live page, which are part of the program.
#pragma once

#include <string_view>
#include <vector>

namespace forelock::cli {

struct PageFile {
  std::string_view name;
  std::string_view type;
  std::string_view content;
};

// From command/cli/serve/page, by CMake.
const std::vector<PageFile>& page_files();

}  // namespace forelock::cli
