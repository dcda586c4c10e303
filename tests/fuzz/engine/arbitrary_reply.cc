#include "engine/arbitrary_reply.h"

namespace forelock::fuzz {

using coordination::Reply;
using coordination::ReplyCode;

namespace {

constexpr ReplyCode codes[] = {ReplyCode::ok,
                               ReplyCode::ok,
                               ReplyCode::ok,
                               ReplyCode::ok,
                               ReplyCode::node_exists,
                               ReplyCode::no_node,
                               ReplyCode::bad_version,
                               ReplyCode::connection_loss,
                               ReplyCode::server_error,
                               ReplyCode::no_auth,
                               ReplyCode::not_empty,
                               ReplyCode::session_expired,
                               ReplyCode::unimplemented,
                               ReplyCode::invalid_argument,
                               ReplyCode::quota_exceeded,
                               ReplyCode::request_too_large};

constexpr const char* names[] = {"A-0000000000", "A-0000000001",  "A-0000000002", "A-0000000003",
                                 "B-0000000000", "B-0000000001",  "B-0000000004", "privateLock",
                                 "A-2147483647", "A--2147483648", "A--000000001", "C-0000000002",
                                 "garbage",      "A-1",           "-0000000001",  "B-1073741824"};

coordination::Stat arbitrary_stat(coordination::SessionId session, Bytes& bytes) {
  coordination::Stat stat;
  stat.mzxid = bytes.byte();
  stat.version = static_cast<std::int32_t>(bytes.choice(4));
  stat.children = static_cast<std::int32_t>(bytes.choice(8));
  stat.cversion = static_cast<std::int32_t>(bytes.choice(16));
  stat.ephemeral_owner = bytes.choice(4) == 3 ? session + 1 : session;
  return stat;
}

// As the server would have named it, or any other way.
std::string arbitrary_path(const coordination::Create& create, Bytes& bytes) {
  const std::size_t name = bytes.choice(16);
  if (create.mode != coordination::CreateMode::ephemeral_sequential) return create.path;
  if (name >= 10) return create.path.substr(0, create.path.rfind('/') + 1) + names[name];
  return create.path + "000000000" + std::to_string(name);
}

std::string arbitrary_data(Bytes& bytes) {
  const std::size_t what = bytes.choice(8);
  if (what == 0) return {};
  // A record of a contender of ours, there is no other text in it that matters.
  const std::string guid = std::string("x") + static_cast<char>('a' + bytes.choice(8));
  return what == 1 ? guid : "L" + guid;
}

struct Result {
  coordination::SessionId session;
  Bytes& bytes;

  coordination::OperationResult operator()(const coordination::Create& create) const {
    return {arbitrary_path(create, bytes), {}};
  }
  coordination::OperationResult operator()(const coordination::SetData&) const {
    return {{}, arbitrary_stat(session, bytes)};
  }
  coordination::OperationResult operator()(const coordination::Delete&) const { return {}; }
  coordination::OperationResult operator()(const coordination::Check&) const { return {}; }
};

}  // namespace

Reply arbitrary_reply(const coordination::Request& request, coordination::SessionId session, Bytes& bytes) {
  Reply reply;
  reply.code = codes[bytes.choice(std::size(codes))];
  if (!reply.ok()) return reply;
  if (const auto* create = std::get_if<coordination::Create>(&request)) {
    reply.path = arbitrary_path(*create, bytes);
  } else if (const auto* transaction = std::get_if<coordination::Transaction>(&request)) {
    for (const auto& operation : transaction->operations) {
      reply.operations.push_back(std::visit(Result{session, bytes}, operation));
    }
  } else if (std::holds_alternative<coordination::List>(request)) {
    reply.stat = arbitrary_stat(session, bytes);
    for (std::size_t count = bytes.choice(5); count > 0; --count) {
      reply.children.emplace_back(names[bytes.choice(std::size(names))]);
    }
  } else {
    reply.stat = arbitrary_stat(session, bytes);
    if (std::holds_alternative<coordination::Get>(request)) reply.data = arbitrary_data(bytes);
  }
  return reply;
}

}  // namespace forelock::fuzz
