#include "coordination/reply_code.h"

namespace forelock::coordination {

std::string_view name_of(ReplyCode code) {
  switch (code) {
    case ReplyCode::ok:
      return "ok";
    case ReplyCode::no_node:
      return "no_node";
    case ReplyCode::node_exists:
      return "node_exists";
    case ReplyCode::not_empty:
      return "not_empty";
    case ReplyCode::bad_version:
      return "bad_version";
    case ReplyCode::no_children_for_ephemerals:
      return "no_children_for_ephemerals";
    case ReplyCode::invalid_argument:
      return "invalid_argument";
    case ReplyCode::no_auth:
      return "no_auth";
    case ReplyCode::auth_failed:
      return "auth_failed";
    case ReplyCode::invalid_acl:
      return "invalid_acl";
    case ReplyCode::quota_exceeded:
      return "quota_exceeded";
    case ReplyCode::request_too_large:
      return "request_too_large";
    case ReplyCode::unimplemented:
      return "unimplemented";
    case ReplyCode::throttled:
      return "throttled";
    case ReplyCode::no_ephemerals:
      return "no_ephemerals";
    case ReplyCode::connection_loss:
      return "connection_loss";
    case ReplyCode::session_expired:
      return "session_expired";
    case ReplyCode::server_error:
      return "server_error";
  }
  return "unknown";
}

}  // namespace forelock::coordination
