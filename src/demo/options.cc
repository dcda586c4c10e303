#include "demo/options.h"

#include <charconv>
#include <cstdlib>
#include <stdexcept>

namespace forelock::demo {
namespace {

template <class Number>
Number number(const std::string& option, const std::string& text, Number lowest, Number highest) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < lowest || value > highest) {
    throw std::invalid_argument(option + ": '" + text + "' is not a number from " + std::to_string(lowest) + " to " +
                                std::to_string(highest));
  }
  return value;
}

}  // namespace

Options parse_options(const std::vector<std::string>& arguments) {
  Options options;
  if (const char* servers = std::getenv("FORELOCK_ZOOKEEPER")) options.zookeeper = servers;
  for (auto argument = arguments.begin(); argument != arguments.end(); ++argument) {
    const std::string& name = *argument;
    const auto value = [&]() -> const std::string& {
      if (++argument == arguments.end()) throw std::invalid_argument(name + " needs a value");
      return *argument;
    };
    if (name == "--config") {
      options.config = value();
    } else if (name == "--zookeeper") {
      options.zookeeper = value();
    } else if (name == "--articles") {
      options.articles = number<std::size_t>(name, value(), 1, 20);
    } else if (name == "--sessions") {
      options.sessions = number<std::size_t>(name, value(), 1, 50);
    } else if (name == "--workers") {
      options.workers = number<std::size_t>(name, value(), 1, 1000);
    } else if (name == "--saves") {
      options.saves = number<double>(name, value(), 0.1, 10000);
    } else if (name == "--seconds") {
      options.duration = std::chrono::seconds(number<int>(name, value(), 1, 3600));
    } else if (name == "--plain") {
      options.plain = true;
    } else if (name == "--help" || name == "-h") {
      options.help = true;
    } else {
      throw std::invalid_argument("unknown option '" + name + "'; --help lists those that exist");
    }
  }
  return options;
}

std::string usage() {
  return "forelock-demo [OPTION...]: interactive saves against bulk work on the same articles\n"
         "\n"
         "  --config FILE      settings; default: those built in\n"
         "  --zookeeper HOSTS  instead of zookeeper.servers; default: $FORELOCK_ZOOKEEPER\n"
         "  --seconds N        length of each of the two phases; default 10\n"
         "  --articles N       default 4\n"
         "  --sessions N       ZooKeeper sessions, as if on as many machines; default 3\n"
         "  --workers N        bulk workers that always want an article; default 24\n"
         "  --saves N          interactive saves a second, at random moments; default 40\n"
         "  --plain            lines instead of a redrawn screen\n"
         "\n"
         "Exit: 0 if every check passed, 1 if one failed, 64 usage, 69 no ZooKeeper, 78 configuration, 130 "
         "interrupted.\n";
}

}  // namespace forelock::demo
