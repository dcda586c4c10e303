#include "robustness/worker/worker_options.h"

namespace forelock::robustness {
namespace {

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts;
  std::istringstream text(list);
  for (std::string part; std::getline(text, part, ',');) parts.push_back(part);
  return parts;
}

}  // namespace

WorkerOptions WorkerOptions::parse(int count, char** arguments) {
  WorkerOptions options;
  const std::map<std::string, std::function<void(const std::string&)>> keys = {
      {"directory", [&](const auto& value) { options.directory = value; }},
      {"resource", [&](const auto& value) { options.resource = value; }},
      {"process", [&](const auto& value) { options.process = value; }},
      {"seed", [&](const auto& value) { options.seed = std::stoull(value); }},
      {"monitors", [&](const auto& value) { options.monitors = split(value); }},
      {"own", [&](const auto& value) { options.own_monitors = std::stoi(value); }},
      {"rare", [&](const auto& value) { options.rare_monitors = std::stoi(value); }},
      {"visited", [&](const auto& value) { options.visited = split(value); }},
      {"threads", [&](const auto& value) { options.threads = std::stoi(value); }},
      {"pause", [&](const auto& value) { options.pause_us = std::stoi(value); }},
      {"overdue", [&](const auto& value) { options.overdue = value == "true"; }},
      {"command", [&](const auto& value) { options.command = value; }},
      {"call", [&](const auto& value) { options.call = std::stoull(value); }},
      {"priority",
       [&](const auto& value) {
         options.priority = value == "background" ? Priority::background : Priority::foreground;
       }},
      {"hold", [&](const auto& value) { options.hold_ms = std::stoi(value); }},
  };
  if (count < 2) throw std::runtime_error("robustness_worker KIND KEY=VALUE...");
  options.kind = arguments[1];
  std::vector<Settings::Override> settings;
  for (int i = 2; i < count; ++i) {
    const std::string argument = arguments[i];
    const auto equals = argument.find('=');
    if (equals == std::string::npos) throw std::runtime_error("no KEY=VALUE: " + argument);
    const std::string key = argument.substr(0, equals);
    if (const auto known = keys.find(key); known != keys.end()) {
      known->second(argument.substr(equals + 1));
    } else {
      settings.push_back({key, argument.substr(equals + 1), "the command line"});
      options.setting_arguments.push_back(argument);
    }
  }
  options.settings.set(settings);  // together: some need each other
  return options;
}

}  // namespace forelock::robustness
