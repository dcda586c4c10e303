// The command line of the programs here: --name=value, nothing else.
#pragma once

#include <map>
#include <string>

namespace forelock::bench {

class Options {
 public:
  // `defaults`: every option that exists. Prints them and exits with 64 for any other.
  Options(int argc, char** argv, std::map<std::string, std::string> defaults);

  const std::string& text(const std::string& name) const { return values_.at(name); }
  int number(const std::string& name) const { return std::stoi(values_.at(name)); }
  bool flag(const std::string& name) const { return values_.at(name) == "on"; }

 private:
  std::map<std::string, std::string> values_;
};

}  // namespace forelock::bench
