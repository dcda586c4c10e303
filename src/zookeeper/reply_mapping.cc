#include "zookeeper/reply_mapping.h"

namespace forelock::zookeeper {

using coordination::ReplyCode;

ReplyCode reply_code(int client_code) {
  // Not in the C header.
  constexpr int ephemeral_on_local_session = -120;
  constexpr int quota_exceeded = -125;
  constexpr int throttled = -127;
  switch (client_code) {
    case ZOK:
      return ReplyCode::ok;
    case ZNONODE:
      return ReplyCode::no_node;
    case ZNODEEXISTS:
      return ReplyCode::node_exists;
    case ZNOTEMPTY:
      return ReplyCode::not_empty;
    case ZBADVERSION:
      return ReplyCode::bad_version;
    case ZNOCHILDRENFOREPHEMERALS:
      return ReplyCode::no_children_for_ephemerals;
    case ZBADARGUMENTS:
      return ReplyCode::invalid_argument;
    case ZNOAUTH:
      return ReplyCode::no_auth;
    case ZAUTHFAILED:
    case ZSESSIONCLOSEDREQUIRESASLAUTH:
      return ReplyCode::auth_failed;
    case ZINVALIDACL:
      return ReplyCode::invalid_acl;
    case quota_exceeded:
      return ReplyCode::quota_exceeded;
    case throttled:
      return ReplyCode::throttled;
    case ephemeral_on_local_session:
      return ReplyCode::no_ephemerals;
    case ZUNIMPLEMENTED:
      return ReplyCode::unimplemented;
    // The outcome is unknown, and another connection will show it. A moved session is ours again after a reconnect.
    case ZCONNECTIONLOSS:
    case ZOPERATIONTIMEOUT:
    case ZSESSIONMOVED:
    case ZCLOSING:
    case ZINVALIDSTATE:
      return ReplyCode::connection_loss;
    case ZSESSIONEXPIRED:
      return ReplyCode::session_expired;
    default:
      return ReplyCode::server_error;
  }
}

coordination::Stat to_stat(const ::Stat& stat) {
  return {.czxid = stat.czxid,
          .mzxid = stat.mzxid,
          .pzxid = stat.pzxid,
          .ctime_ms = stat.ctime,
          .mtime_ms = stat.mtime,
          .version = stat.version,
          .cversion = stat.cversion,
          .ephemeral_owner = stat.ephemeralOwner,
          .data_length = stat.dataLength,
          .children = stat.numChildren};
}

}  // namespace forelock::zookeeper
