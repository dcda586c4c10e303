// The user's settings for librdkafka: those under "kafka.", with their places, secrets read, checked as far as
// this library has a say. Whether librdkafka likes them is another question (ClientConfig).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/problems.h"
#include "forelock/settings.h"
#include "kafka/mask.h"
#include "kafka/place.h"

namespace forelock::kafka {

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
