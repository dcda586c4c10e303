// Converts librdkafka's error codes to this library's exceptions.
#pragma once

#include <string>

#include "kafka/client_config.h"
#include "kafka/client_events.h"
#include "kafka/handles.h"

namespace forelock::kafka {

// Whether the broker will refuse this very record again: too large, not authorized for its topic, invalid.
bool refuses_record(rd_kafka_resp_err_t error);
// Whether it is about the topic: any other record for it fares the same, until somebody has changed that.
bool concerns_topic(rd_kafka_resp_err_t error);
// Whether it is about who asks: no such user, a wrong password, a missing permission.
bool denies(rd_kafka_resp_err_t error);
// Whether asking again changes nothing: refuses_record(), and what is wrong with the request or with who asks.
bool is_permanent(rd_kafka_resp_err_t error);

// A client with what is needed to say what is wrong with it.
struct ClientContext {
  const ClientConfig& config;
  const ClientEvents& events;
};

// `what` was to be done, such as "read topic X"; `reason`: what the broker or librdkafka says beyond the code.
// \throws Error(not_authorized) if denies(error), Error(kafka_rejected) if is_permanent(error), else
// Error(kafka_unavailable).
[[noreturn]] void throw_failure(const ClientContext& context, const std::string& what, rd_kafka_resp_err_t error,
                                const std::string& reason = {});
// \throws Error(kafka_unavailable): no answer within the deadline.
[[noreturn]] void throw_unavailable(const ClientContext& context, const std::string& what, const std::string& reason);
// \throws Error(not_authorized) if a broker does not accept our credentials; trying again is of no use then.
void throw_if_refused(const ClientContext& context, const std::string& what);

}  // namespace forelock::kafka
