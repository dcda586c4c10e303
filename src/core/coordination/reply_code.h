// The answers of a coordination server, and what each means for the effect of the request.
#pragma once

#include <string_view>

namespace forelock::coordination {

enum class ReplyCode {
  ok,
  no_node,
  node_exists,
  not_empty,
  bad_version,
  no_children_for_ephemerals,
  invalid_argument,  // a path or an argument that the server or its client refuses
  no_auth,           // the ACL does not permit it
  auth_failed,       // the credentials themselves were refused; the session is dead
  invalid_acl,
  quota_exceeded,
  request_too_large,  // refused locally, before sending: the server would cut the connection
  unimplemented,
  throttled,        // the overloaded server reports that it has not done it; a retry may succeed
  no_ephemerals,    // a session that may have no ephemeral nodes (localSessionsEnabled without upgrading)
  connection_loss,  // the connection went before the reply came
  session_expired,  // the session is gone, and its ephemeral nodes with it
  server_error      // anything else the server reports
};

// Whether a failed request may have been applied by the server.
enum class Effect {
  applied,      // ok
  not_applied,  // the server refused it, or it was never sent
  unknown       // the reply was lost, or is ambiguous: the outcome is resolved
};

constexpr Effect effect_of(ReplyCode code) {
  switch (code) {
    case ReplyCode::ok:
      return Effect::applied;
    case ReplyCode::connection_loss:
    case ReplyCode::session_expired:
    case ReplyCode::server_error:
    // Not applied; but the next steps are the same: a pause, a read, and a retry.
    case ReplyCode::throttled:
      return Effect::unknown;
    default:
      return Effect::not_applied;
  }
}

// Whether the server itself has answered, so that the session was alive when the request was sent. Other answers are,
// or may be, the client's own.
constexpr bool answered_by_server(ReplyCode code) {
  switch (code) {
    case ReplyCode::connection_loss:
    case ReplyCode::session_expired:
    case ReplyCode::request_too_large:
    case ReplyCode::invalid_argument:
    case ReplyCode::unimplemented:
    case ReplyCode::auth_failed:
    case ReplyCode::server_error:
      return false;
    default:
      return true;
  }
}

// Whether an answer to a write may be that of the server which the client is connected to, and not a transaction: with
// zookeeper.enableEagerACLCheck a follower checks permissions by itself, and each throttles by itself.
constexpr bool decided_locally(ReplyCode code) {
  return code == ReplyCode::no_auth || code == ReplyCode::invalid_acl || code == ReplyCode::throttled ||
         code == ReplyCode::no_ephemerals;
}

// A stable lower-case name such as "no_node", for messages and logs.
std::string_view name_of(ReplyCode code);

}  // namespace forelock::coordination
