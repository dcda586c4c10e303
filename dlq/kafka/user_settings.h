// The user's settings for librdkafka: those under "kafka.", with their places, secrets read, checked as far as this
// library restricts them. librdkafka's own checks are in ClientConfig.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "config/problems.h"
#include "forelock/configuration_error.h"
#include "forelock/settings.h"

namespace forelock::kafka {

// Hides secret values in texts of others. A value.
class Mask {
 public:
  void add(std::string secret);
  // The text with ****** for each secret in it.
  std::string applied_to(std::string_view text) const;

 private:
  std::vector<std::string> secrets_;  // longest first
};

// The place of a Kafka setting, for messages.
struct Place {
  std::string key;   // with the prefix "kafka."
  std::string file;  // or the origin of an override
  int line = 0;      // 0 for an override

  ConfigurationProblem problem(std::string message, std::string hint) const;
};

// Of a setting that was given: of its origin "FILE:LINE", or that of an override.
Place place_of(const Settings::Entry& entry);

struct UserSetting {
  std::string key;    // as librdkafka names it
  std::string value;  // secrets included: not for messages
  bool secret = false;
  Place place;
};

// Whether the value must not stand in a file that others can read.
bool is_confidential(std::string_view key);

// A secret stands in a configuration file with mode 0600 or less, or in a file of its own that `kafka.<key>.file`
// names; never on a command line. Keys that this library decides itself may only say what it says. What is wrong goes
// to `problems`.
std::vector<UserSetting> user_settings(const Settings& settings, config::Problems& problems);

}  // namespace forelock::kafka
