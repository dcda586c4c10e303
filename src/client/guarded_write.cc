#include "client/guarded_write.h"

#include <future>
#include <memory>
#include <type_traits>
#include <utility>
#include <variant>

#include "client/client_core.h"
#include "client/reply_error.h"
#include "lock/child_name.h"

namespace forelock::client {

using coordination::Reply;
using coordination::ReplyCode;

namespace {

std::string guarded_lock_path(const std::string& node_name) {
  return "/" + node_name + "/" + std::string(lock::private_lock_name);
}

coordination::Operation to_operation(const WriteOperation& write) {
  return std::visit(
      [](const auto& operation) -> coordination::Operation {
        using Kind = std::decay_t<decltype(operation)>;
        if constexpr (std::is_same_v<Kind, CreateNode>) {
          return coordination::Create{operation.path, operation.data, coordination::CreateMode::persistent};
        } else if constexpr (std::is_same_v<Kind, SetNode>) {
          return coordination::SetData{operation.path, operation.data, operation.version};
        } else if constexpr (std::is_same_v<Kind, DeleteNode>) {
          return coordination::Delete{operation.path, operation.version};
        } else {
          return coordination::Check{operation.path, operation.version};
        }
      },
      write);
}

}  // namespace

std::vector<WriteResult> GuardedWrite::commit(const std::vector<WriteOperation>& operations) const {
  std::vector<coordination::Operation> converted;
  converted.reserve(operations.size());
  for (const WriteOperation& operation : operations) converted.push_back(to_operation(operation));
  std::vector<lock::ContenderId> contenders;
  for (const Hold& hold : guard_.holds) contenders.push_back(hold.contender);
  const auto promise = std::make_shared<std::promise<Reply>>();
  auto answer = promise->get_future();
  const bool sent =
      guard_.ensemble.guarded_transaction(guard_.caller, contenders, std::move(converted),
                                          [promise](Reply reply) { promise->set_value(std::move(reply)); });
  if (!sent) {
    guard_.check_health();
    if (!guard_.ensemble.connected()) throw_connection_loss("there is no connection, nothing was written");
    // What became of an earlier request is being found out, or the lock was removed a moment ago.
    if (const Finding finding = look(); finding.ours == Ours::no) throw_not_ours(finding.monitor);
    throw_connection_loss("whether the lock is still ours is being found out, nothing was written");
  }
  if (answer.wait_for(guard_.ensemble.core().settings().session_timeout()) != std::future_status::ready) {
    throw_connection_loss("it may or may not have been committed");
  }
  const Reply reply = answer.get();
  if (reply.ok()) {
    std::vector<WriteResult> results(operations.size());
    const std::size_t guards = reply.operations.size() - operations.size();
    for (std::size_t i = 0; i < results.size(); ++i) results[i].version = reply.operations[guards + i].stat.version;
    return results;
  }
  switch (reply.code) {
    case ReplyCode::no_node:
    case ReplyCode::bad_version:
    case ReplyCode::node_exists:
    case ReplyCode::not_empty:
      // The server says that something was refused, not what: the check of a lock, or one of the caller's own.
      if (const Finding finding = look(); finding.ours == Ours::unknown) {
        throw_connection_loss("nothing was written, and whether the lock is still ours is not known");
      } else if (finding.ours == Ours::no) {
        throw_not_ours(finding.monitor);
      }
      throw RequestRejectedException(ErrorCode::write_conflict, guard_.name,
                                     "a guarded write under " + guard_.name + " was refused: " +
                                         std::string(reason_of(reply.code)) + "; nothing was written");
    case ReplyCode::connection_loss:
      throw_connection_loss("it may or may not have been committed");
    default:
      throw_reply_error(reply.code, guard_.name, "guarded write under " + guard_.name);
  }
}

GuardedWrite::Finding GuardedWrite::look() const {
  std::vector<std::future<Reply>> answers;
  answers.reserve(guard_.holds.size());
  for (const Hold& hold : guard_.holds) {
    answers.push_back(guard_.ensemble.request(coordination::Get{guarded_lock_path(hold.node_name), false}));
  }
  Finding finding;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const Hold& hold = guard_.holds[i];
    if (answers[i].wait_for(guard_.ensemble.core().settings().session_timeout()) != std::future_status::ready) {
      return {Ours::unknown, hold.monitor};
    }
    const Reply reply = answers[i].get();
    if (reply.code == ReplyCode::no_node) return {Ours::no, hold.monitor};
    if (!reply.ok()) {
      finding = {Ours::unknown, hold.monitor};
    } else if (reply.data.find(hold.guid) == std::string::npos) {
      return {Ours::no, hold.monitor};
    }
  }
  if (finding.ours == Ours::yes && !guard_.still_held()) return {Ours::no, guard_.holds.front().monitor};
  return finding;
}

void GuardedWrite::throw_not_ours(const std::string& monitor) const {
  throw LockUnhealthyException(ErrorCode::lock_unhealthy, monitor,
                               "the lock on " + monitor + " is not ours any more; nothing was written");
}

void GuardedWrite::throw_connection_loss(std::string_view outcome) const {
  throw ConnectionLossException(
      ErrorCode::connection_loss, guard_.name,
      "no answer from ZooKeeper to a guarded write under " + guard_.name + ": " + std::string(outcome));
}

}  // namespace forelock::client
