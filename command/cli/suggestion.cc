#include "cli/suggestion.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <utility>

#include "config/edit_distance.h"

namespace forelock::cli {

namespace {

// What other programs call it.
constexpr std::pair<std::string_view, std::string_view> other_words[] = {
    {"lock", "run"},     {"exec", "run"},     {"with", "run"},        {"unlock", "release"},
    {"free", "release"}, {"list", "ls"},      {"top", "watch"},       {"status", "show"},
    {"get", "show"},     {"check", "doctor"}, {"settings", "config"}, {"server", "dev"}};

}  // namespace

std::string nearest_word(std::string_view word, const std::vector<std::string>& known) {
  for (const auto& [other, meant] : other_words) {
    if (word == other && std::find(known.begin(), known.end(), meant) != known.end()) return std::string(meant);
  }
  word = word.substr(0, word.find('=')).substr(0, 64);  // bounded work, whatever was typed
  std::size_t least = std::max<std::size_t>(2, word.size() / 3) + 1;
  std::string nearest;
  for (const std::string& candidate : known) {
    const std::size_t distance = config::edit_distance(word, candidate);
    if (distance >= least) continue;
    least = distance;
    nearest = candidate;
  }
  return nearest;
}

std::vector<std::string> words_of(const CLI::App& app, std::string_view word) {
  std::vector<std::string> words;
  for (const CLI::App* level = &app; level != nullptr; level = level->get_parent()) {
    if (word.starts_with('-')) {
      for (const CLI::Option* option : level->get_options()) {
        for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
      }
    } else {
      for (const CLI::App* sub : level->get_subcommands([](const CLI::App*) { return true; }))
        words.push_back(sub->get_name());
    }
  }
  return words;
}

}  // namespace forelock::cli
