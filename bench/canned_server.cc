#include "bench/canned_server.h"

#include <algorithm>
#include <cstdio>
#include <variant>

namespace forelock::bench {

using coordination::Create;
using coordination::CreateMode;
using coordination::Delete;
using coordination::Exists;
using coordination::List;
using coordination::Reply;
using coordination::ReplyCode;
using coordination::SetData;
using coordination::Transaction;

namespace {

constexpr std::chrono::seconds session_timeout{10};
constexpr std::chrono::microseconds step{1};

bool is_lock(const std::string& path) {
  return path.ends_with("/privateLock");
}

std::string numbered(const std::string& prefix, std::int64_t number) {
  char digits[16];
  std::snprintf(digits, sizeof digits, "%010lld", static_cast<long long>(number));
  return prefix + digits;
}

Reply with_code(ReplyCode code) {
  Reply reply;
  reply.code = code;
  return reply;
}

}  // namespace

CannedServer::CannedServer(std::size_t foreign) {
  for (std::size_t i = 0; i < foreign; ++i) children_.push_back(numbered("B-", created_++));
}

void CannedServer::connect(lock::Engine& engine) {
  engine.on_session({coordination::SessionEvent::Kind::connected, 1, session_timeout, time_}, time_ += step);
  answer_all(engine);
}

void CannedServer::answer_all(lock::Engine& engine) {
  while (!asked_.empty()) {
    const auto [tag, request] = std::move(asked_.front());
    asked_.pop_front();
    Reply reply = apply(request);
    // An event comes before the reply of the request that caused it.
    if (std::exchange(children_event_due_, false)) {
      engine.on_watch({coordination::WatchEvent::Kind::children_changed, "/" + std::string(monitor)}, time_ += step);
    }
    engine.on_reply(tag, std::move(reply), time_ += step);
  }
}

void CannedServer::send(coordination::RequestTag tag, coordination::Request request) {
  ++requests_;
  asked_.emplace_back(tag, std::move(request));
}

void CannedServer::granted(lock::ContenderId contender, const lock::Grant&) {
  ++grants_;
  holder_ = contender;
}

coordination::Stat CannedServer::parent_stat() const {
  coordination::Stat stat;
  stat.children = static_cast<std::int32_t>(children_.size() + (locked_ ? 1 : 0));
  stat.cversion = static_cast<std::int32_t>(2 * created_ - stat.children);
  return stat;
}

Reply CannedServer::list(bool watch) {
  Reply reply;
  reply.children.assign(children_.begin(), children_.end());
  if (locked_) reply.children.emplace_back("privateLock");
  reply.stat = parent_stat();
  children_watched_ = children_watched_ || watch;
  return reply;
}

bool CannedServer::remove(const std::string& path) {
  if (is_lock(path)) return std::exchange(locked_, false);
  const std::string_view name = std::string_view(path).substr(monitor.size() + 2);
  if (!children_.empty() && children_.front() == name) {
    children_.pop_front();
    return true;
  }
  const auto found = std::find(children_.rbegin(), children_.rend(), name);
  if (found == children_.rend()) return false;
  children_.erase(std::next(found).base());
  return true;
}

Reply CannedServer::apply(const Create& create) {
  if (create.mode == CreateMode::container) return {};
  ++zxid_;
  Reply reply;
  reply.path = numbered(create.path, created_++);
  children_.push_back(reply.path.substr(monitor.size() + 2));
  children_changed();
  return reply;
}

Reply CannedServer::apply(const Delete& erase) {
  ++zxid_;
  if (!remove(erase.path)) return with_code(ReplyCode::no_node);
  children_changed();
  return {};
}

Reply CannedServer::apply(const Transaction& transaction) {
  for (const auto& operation : transaction.operations) {
    const auto* create = std::get_if<Create>(&operation);
    if (create != nullptr && is_lock(create->path) && locked_) return with_code(ReplyCode::node_exists);
  }
  ++zxid_;
  Reply reply;
  reply.operations.resize(transaction.operations.size());
  for (std::size_t i = 0; i < transaction.operations.size(); ++i) {
    auto& result = reply.operations[i];
    if (const auto* create = std::get_if<Create>(&transaction.operations[i])) {
      if (is_lock(create->path)) {
        locked_ = true;
        lock_version_ = 0;
        ++created_;
        result.path = create->path;
      } else {
        result.path = numbered(create->path, created_++);
        children_.push_back(result.path.substr(monitor.size() + 2));
      }
      children_changed();
    } else if (const auto* erase = std::get_if<Delete>(&transaction.operations[i])) {
      remove(erase->path);
      children_changed();
    } else if (std::holds_alternative<SetData>(transaction.operations[i])) {
      result.stat.version = ++lock_version_;
      result.stat.mzxid = zxid_;
    }
  }
  return reply;
}

Reply CannedServer::apply(const coordination::Request& request) {
  if (const auto* transaction = std::get_if<Transaction>(&request)) return apply(*transaction);
  if (const auto* create = std::get_if<Create>(&request)) return apply(*create);
  if (const auto* erase = std::get_if<Delete>(&request)) return apply(*erase);
  if (const auto* listing = std::get_if<List>(&request)) return list(listing->watch);
  return {};
}

lock::AcquireSpec typical_spec(Priority priority) {
  lock::AcquireSpec spec;
  spec.monitor = CannedServer::monitor;
  spec.priority = priority;
  spec.guid = "0b0f2d5e-4f7c-4d1e-9a3b-2c1d0e9f8a7b";
  spec.record = [](lock::RecordUse use, const std::string&) {
    return use == lock::RecordUse::holding ? std::string(450, 'y') : std::string(400, 'x');
  };
  return spec;
}

}  // namespace forelock::bench
