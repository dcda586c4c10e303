// One setting of the contract, as the table in option_table.cc describes it.
#pragma once

#include <cstdint>
#include <string_view>

namespace forelock::config {

// The place of each option in the table.
enum class OptionId {
  servers,
  session_timeout,
  session_file,
  connection_retry,
  connection_delay,
  foreground_prefix,
  background_prefix,
  foreground_timeout,
  background_timeout,
  background_max_wait,
  admission,
  queue_max,
  request_retry_count,
  dlq_topic,
  outbox_path,
  outbox_max_bytes,
  watch,
  monitor_linger,
  linger,
  linger_max,
  linger_reused,
  release_delay,
  trace_file,
  trace_monitors,
  auth_digest_file,
  acl,
  tls_ca_file,
  tls_certificate_file,
  tls_key_file,
  tls_key_password_file,
  tls_server_names,
  tls_min_version,
  tls_crl_file,
  sasl_mechanism,
  sasl_user,
  sasl_password_file,
  sasl_service,
  sasl_realm,
  kafka_servers,
  count  // how many there are
};

enum class OptionType {
  servers,   // see server_list.h
  number,    // from min to max
  duration,  // min to max, in milliseconds
  size,      // min to max, in bytes
  prefix,    // of a contender's node
  topic,     // of Kafka
  path,      // of a file
  choice,    // one of the words in `choices`
  names,     // of hosts, separated by commas
  text       // anything
};

enum class Importance { high, medium, low };

struct Option {
  OptionId id;
  std::string_view key;
  std::string_view other_spelling;  // accepted too; may be empty
  OptionType type;
  std::string_view fallback;        // the default's text; empty: none, or found at run time
  std::string_view fallback_shown;  // what the documentation says of it, where that differs
  std::int64_t min;
  std::int64_t max;
  std::string_view choices;  // separated by '|'
  Importance importance;
  std::string_view description;
};

}  // namespace forelock::config
