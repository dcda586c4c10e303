#include "kafka/kafka_error.h"

#include "forelock/error.h"

namespace forelock::kafka {
namespace {

std::string at(const ClientContext& context) {
  return " at " + context.config.bootstrap_servers();
}

const char* hint_of(rd_kafka_resp_err_t error) {
  switch (error) {
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
      return "give the user of kafka.sasl.username (or of the client's certificate) the permission, in the cluster's "
             "ACLs";
    case RD_KAFKA_RESP_ERR__AUTHENTICATION:
    case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
      return "check kafka.security.protocol, kafka.sasl.mechanism, kafka.sasl.username and the password's file";
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
      return "raise max.message.bytes of the topic";
    default:
      return "see the broker's log";
  }
}

std::string text_of(rd_kafka_resp_err_t error, const std::string& reason) {
  const bool silence = error == RD_KAFKA_RESP_ERR__TRANSPORT || error == RD_KAFKA_RESP_ERR__TIMED_OUT ||
                       error == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN;
  const std::string text = silence ? "no broker answers" : rd_kafka_err2str(error);
  return reason.empty() || reason == text ? text : text + " (" + reason + ")";
}

}  // namespace

bool refuses_record(rd_kafka_resp_err_t error) {
  switch (error) {
    case RD_KAFKA_RESP_ERR__INVALID_ARG:
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
    case RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE:
    case RD_KAFKA_RESP_ERR_INVALID_MSG_SIZE:
    case RD_KAFKA_RESP_ERR_INVALID_RECORD:
    case RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP:
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION:
    case RD_KAFKA_RESP_ERR_POLICY_VIOLATION:
    case RD_KAFKA_RESP_ERR_UNSUPPORTED_FOR_MESSAGE_FORMAT:
      return true;
    default:
      return false;
  }
}

bool concerns_topic(rd_kafka_resp_err_t error) {
  switch (error) {
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
      return true;
    default:
      return false;
  }
}

bool denies(rd_kafka_resp_err_t error) {
  switch (error) {
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR__AUTHENTICATION:
    case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
      return true;
    default:
      return false;
  }
}

bool is_permanent(rd_kafka_resp_err_t error) {
  switch (error) {
    case RD_KAFKA_RESP_ERR__AUTHENTICATION:
    case RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE:
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
    case RD_KAFKA_RESP_ERR_UNSUPPORTED_SASL_MECHANISM:
    case RD_KAFKA_RESP_ERR_SECURITY_DISABLED:
    case RD_KAFKA_RESP_ERR_INVALID_CONFIG:
    case RD_KAFKA_RESP_ERR_INVALID_PARTITIONS:
    case RD_KAFKA_RESP_ERR_INVALID_REPLICATION_FACTOR:
    case RD_KAFKA_RESP_ERR_INVALID_REQUEST:
    case RD_KAFKA_RESP_ERR_INVALID_GROUP_ID:
    case RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID:
    case RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE:
    case RD_KAFKA_RESP_ERR_OFFSET_METADATA_TOO_LARGE:
    case RD_KAFKA_RESP_ERR_UNSUPPORTED_VERSION:
      return true;
    default:
      return refuses_record(error);
  }
}

void throw_failure(const ClientContext& context, const std::string& what, rd_kafka_resp_err_t error,
                   const std::string& reason) {
  const std::string text = context.config.mask().applied_to(text_of(error, reason));
  if (!is_permanent(error)) throw_unavailable(context, what, text);
  throw Error(denies(error) ? ErrorCode::not_authorized : ErrorCode::kafka_rejected, {},
              "Kafka" + at(context) + " refuses to " + what + ": " + text, hint_of(error));
}

void throw_unavailable(const ClientContext& context, const std::string& what, const std::string& reason) {
  throw Error(ErrorCode::kafka_unavailable, {},
              "cannot " + what + ": Kafka" + at(context) + ": " + reason + context.events.and_last_problem(),
              "check that the brokers run and that kafka.bootstrap.servers names them");
}

void throw_if_refused(const ClientContext& context, const std::string& what) {
  if (const std::optional<std::string> refusal = context.events.refusal()) {
    throw_failure(context, what, RD_KAFKA_RESP_ERR__AUTHENTICATION, *refusal);
  }
}

}  // namespace forelock::kafka
