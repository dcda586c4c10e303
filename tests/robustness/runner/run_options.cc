#include "robustness/runner/run_options.h"

namespace forelock::robustness {

RunOptions RunOptions::parse(int count, char** arguments) {
  RunOptions options;
  for (int i = 1; i < count; i += 2) {
    const std::string name = arguments[i];
    if (i + 1 >= count) throw std::runtime_error(name + " needs a value");
    const std::string value = arguments[i + 1];
    if (name == "--seed") {
      options.seed = std::stoull(value);
    } else if (name == "--seconds") {
      options.seconds = std::chrono::seconds(std::stoi(value));
    } else if (name == "--directory") {
      options.directory = std::filesystem::absolute(value);
    } else if (name == "--rate") {
      options.rate = std::stod(value);
    } else if (name == "--sample") {
      options.sample_interval = std::chrono::seconds(std::stoi(value));
    } else if (name == "--spare") {
      std::istringstream list(value);
      for (std::string slot; std::getline(list, slot, ',');) options.spared.insert(slot);
    } else if (name == "--mutation") {
      options.mutation = value;
    } else if (name == "--transport") {
      options.tls = value == "tls" || value == "tls+sasl";
      options.sasl = value == "sasl" || value == "tls+sasl";
      if (!options.tls && !options.sasl && value != "plain") throw std::runtime_error("no transport " + value);
    } else if (name == "--faults") {
      options.no_faults = value == "none";
      std::istringstream list(value == "all" || value == "none" ? "" : value);
      for (std::string kind; std::getline(list, kind, ',');) options.faults.insert(kind);
    } else {
      throw std::runtime_error("unknown option " + name);
    }
  }
  if (options.directory.empty() || options.rate <= 0) {
    throw std::runtime_error(
        "robustness_run --directory D [--seed N] [--seconds S] [--faults all|none|KIND,KIND…] [--rate FACTOR] "
        "[--mutation NAME] [--spare CLIENT,CLIENT…] [--sample SECONDS] [--transport plain|tls|sasl|tls+sasl]");
  }
  return options;
}

}  // namespace forelock::robustness
