#include "client/reply_error.h"

#include <utility>

#include "forelock/error.h"

namespace forelock::client {

using coordination::ReplyCode;

std::string_view reason_of(ReplyCode code) {
  switch (code) {
    case ReplyCode::ok:
      return "it succeeded";
    case ReplyCode::no_node:
      return "the node does not exist";
    case ReplyCode::node_exists:
      return "the node exists already";
    case ReplyCode::not_empty:
      return "the node has children";
    case ReplyCode::bad_version:
      return "the node was changed by another client";
    case ReplyCode::no_children_for_ephemerals:
      return "an ephemeral node cannot have children";
    case ReplyCode::invalid_argument:
      return "the server does not take such a path or argument";
    case ReplyCode::no_auth:
      return "the access control list does not permit it";
    case ReplyCode::auth_failed:
      return "the server refused the credentials";
    case ReplyCode::invalid_acl:
      return "the server does not take the access control list";
    case ReplyCode::quota_exceeded:
      return "a quota of the server is used up";
    case ReplyCode::request_too_large:
      return "the request is larger than the server takes";
    case ReplyCode::unimplemented:
      return "the server cannot do this";
    case ReplyCode::throttled:
      return "the server has too much to do and has not done it";
    case ReplyCode::no_ephemerals:
      return "the server gives this session no ephemeral nodes";
    case ReplyCode::connection_loss:
      return "the connection was lost before the reply came";
    case ReplyCode::session_expired:
      return "the session has expired";
    case ReplyCode::server_error:
      break;
  }
  return "the server reported an error";
}

void throw_reply_error(ReplyCode code, const std::string& monitor, std::string what) {
  const std::string message = std::move(what) + ": " + std::string(reason_of(code));
  switch (code) {
    case ReplyCode::connection_loss:
      throw ConnectionLossException(ErrorCode::connection_loss, monitor, message, "forelock doctor");
    case ReplyCode::session_expired:
      throw SessionExpiredException(ErrorCode::session_expired, monitor, message);
    case ReplyCode::no_auth:
    case ReplyCode::auth_failed:
    case ReplyCode::invalid_acl:
      throw RequestRejectedException(ErrorCode::not_authorized, monitor, message,
                                     "check zookeeper.auth.digest.file, and the access control list of the node");
    case ReplyCode::quota_exceeded:
      throw RequestRejectedException(ErrorCode::quota_exceeded, monitor, message,
                                     "raise the quota of the namespace, or remove unused nodes");
    case ReplyCode::request_too_large:
      throw RequestRejectedException(ErrorCode::request_too_large, monitor, message);
    case ReplyCode::invalid_argument:
      throw RequestRejectedException(ErrorCode::invalid_argument, monitor, message);
    case ReplyCode::no_node:
      throw NoNodeException(ErrorCode::no_node, monitor, message);
    case ReplyCode::node_exists:
    case ReplyCode::not_empty:
    case ReplyCode::bad_version:
    case ReplyCode::no_children_for_ephemerals:
      throw RequestRejectedException(ErrorCode::write_conflict, monitor, message);
    case ReplyCode::throttled:
      throw RequestRejectedException(ErrorCode::overloaded, monitor, message, "the same call may be repeated");
    case ReplyCode::no_ephemerals:
      throw RequestRejectedException(ErrorCode::server_error, monitor, message,
                                     "the servers' localSessionsEnabled needs localSessionsUpgradingEnabled=true");
    case ReplyCode::unimplemented:
    case ReplyCode::server_error:
      throw RequestRejectedException(ErrorCode::server_error, monitor, message);
    case ReplyCode::ok:
      break;
  }
  throw Error(ErrorCode::internal, monitor, message);
}

}  // namespace forelock::client
