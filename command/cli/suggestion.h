// "Did you mean …": the nearest known word.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace forelock::cli {

// Empty if none of the words is near.
std::string nearest_word(std::string_view word, const std::vector<std::string>& known);

// What can be typed in place of `word` after this command: its options and the root's, or its subcommands.
std::vector<std::string> words_of(const CLI::App& app, std::string_view word);

}  // namespace forelock::cli
