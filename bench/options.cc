#include "bench/options.h"

#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace forelock::bench {

Options::Options(int argc, char** argv, std::map<std::string, std::string> defaults) : values_(std::move(defaults)) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const auto equals = argument.find('=');
    const auto known = argument.starts_with("--") && equals != std::string_view::npos
                           ? values_.find(std::string(argument.substr(2, equals - 2)))
                           : values_.end();
    if (known == values_.end()) {
      std::fprintf(stderr, "%s: unknown option '%s'; these exist, with their defaults:\n", argv[0], argv[i]);
      for (const auto& [name, value] : values_) std::fprintf(stderr, "  --%s=%s\n", name.c_str(), value.c_str());
      std::exit(64);
    }
    known->second = argument.substr(equals + 1);
  }
}

}  // namespace forelock::bench
