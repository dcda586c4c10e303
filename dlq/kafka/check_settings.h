// Checks whether clients of Kafka can be made of the settings.
#pragma once

#include <string_view>

#include "forelock/settings.h"

namespace forelock::kafka {

// Looks at everything under "kafka." for a producer and for a consumer; connects to no broker. Nothing is wrong with
// settings that have no such key. \throws ConfigurationException naming all problems with their places.
void check_settings(const Settings& settings);

// Whether librdkafka, or this library, knows `key`, which may begin with "kafka.". What is not known may be a misspelt
// secret.
bool is_known_setting(std::string_view key);

}  // namespace forelock::kafka
