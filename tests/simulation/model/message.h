// Messages between a client and its server, and the fate of a request there.
#pragma once

#include "coordination/reply.h"
#include "coordination/request.h"
#include "coordination/session.h"
#include "model/random.h"

namespace forelock::model {

// A fault planned for one request.
struct Fate {
  coordination::ReplyCode refuse = coordination::ReplyCode::ok;  // not ok: the server answers this
  bool apply_anyway = false;                                     // although it has done what was asked
  bool cut_when_applied = false;                                 // the connection goes before the reply
};

// The watches that a client takes along to its next server, and the last transaction it has heard of.
struct WatchSet {
  std::int64_t seen_zxid = 0;
  std::vector<std::string> data;    // of nodes that existed
  std::vector<std::string> absent;  // of nodes that did not
  std::vector<std::string> children;

  bool empty() const { return data.empty() && absent.empty() && children.empty(); }
};

struct Upstream {
  enum class Kind { connect, request, set_watches, ping, close };
  Kind kind = Kind::ping;
  std::uint64_t number = 0;  // request: counts within the session; its reply carries the same
  std::uint64_t tag = 0;     // request: the submitter's
  coordination::Request request;
  Fate fate;
  WatchSet watches;     // connect (the zxid only), set_watches
  Span timeout{};       // connect: of a new session
  bool closes = false;  // connect: a new session keeps its nodes to itself
};

struct Downstream {
  enum class Kind { connected, refused, expired, hung_up, reply, watch, pong, closed };
  Kind kind = Kind::pong;
  std::uint64_t number = 0;
  std::int64_t zxid = 0;  // the last transaction that the server had applied
  coordination::SessionId session = 0;
  coordination::Reply reply;
  coordination::WatchEvent watch;
};

}  // namespace forelock::model
