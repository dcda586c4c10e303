#include "kafka/check_settings.h"

#include "kafka/client_config.h"
#include "kafka/known_keys.h"

namespace forelock::kafka {

void check_settings(const Settings& settings) {
  if (settings.kafka().empty()) return;
  Settings complete = settings;
  // Without servers the outbox is the queue, and that is right.
  if (!settings.kafka().contains("bootstrap.servers")) complete.set("kafka.bootstrap.servers", "localhost:9092");
  for (const Role role : {Role::producer, Role::consumer}) {
    const ClientConfig config(complete, role);
    config.make(config.conf());
  }
}

bool is_known_setting(std::string_view key) {
  constexpr std::string_view prefix = "kafka.";
  constexpr std::string_view file_suffix = ".file";
  if (key.starts_with(prefix)) key.remove_prefix(prefix.size());
  if (key.ends_with(file_suffix)) key.remove_suffix(file_suffix.size());
  return KnownKeys::get().knows(key);
}

}  // namespace forelock::kafka
