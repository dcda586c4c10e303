// Creates clients of librdkafka from settings.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "forelock/settings.h"
#include "kafka/handles.h"
#include "kafka/role.h"
#include "kafka/user_settings.h"

namespace forelock::kafka {

// Immutable, thread-safe. Contains secrets.
class ClientConfig {
 public:
  // This library's values go first, then the user's, then `own`, which cannot be overridden.
  // \throws ConfigurationException with everything that this library or librdkafka refuses, with its place: unknown
  // keys, bad values, also those of the other role; secrets where others can read them; no bootstrap servers.
  ClientConfig(const Settings& settings, Role role, const std::vector<std::pair<std::string, std::string>>& own = {});

  // As the user wrote them.
  const std::string& bootstrap_servers() const { return bootstrap_servers_; }
  const Mask& mask() const { return mask_; }

  // A copy, for one client.
  ConfHandle conf() const { return ConfHandle(rd_kafka_conf_dup(conf_.get())); }
  // Makes the client. What it has to say, its log included, it says in rd_kafka_poll() alone. \throws
  // ConfigurationException for values that contradict each other, or files that they name and that cannot be used.
  ClientHandle make(ConfHandle conf) const;

 private:
  Role role_;
  std::vector<UserSetting> user_;
  std::string bootstrap_servers_;
  Mask mask_;
  ConfHandle conf_;
};

// Looks at everything under "kafka." for a producer and for a consumer; connects to no broker. Nothing is wrong with
// settings that have no such key. \throws ConfigurationException naming all problems with their places.
void check_settings(const Settings& settings);

// Whether librdkafka, or this library, knows `key`, which may begin with "kafka.". What is not known may be a misspelt
// secret.
bool is_known_setting(std::string_view key);

}  // namespace forelock::kafka
