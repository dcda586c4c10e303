// Runners, operations under way and their attempts, behind handles.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <stop_token>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "capi/client_object.h"
#include "capi/dead_letters.h"
#include "capi/lock_object.h"
#include "forelock/operation_runner.h"

namespace forelock::capi {

// The attempts of a runner that have not ended, so that a runner which is freed can end them. Thread-safe.
class OpenAttempts {
 public:
  // An operation begins, which close() withdraws. \returns its number, for end().
  std::uint64_t begin(std::stop_source operation);
  void end(std::uint64_t operation);

  // False if no more are begun.
  bool add(Handle attempt);
  void remove(Handle attempt);
  // Withdraws the operations, so that their callers keep them, and fails all attempts; later ones are not begun.
  void close();

 private:
  std::mutex mutex_;
  std::unordered_set<Handle> attempts_;
  std::unordered_map<std::uint64_t, std::stop_source> operations_;
  std::uint64_t last_operation_ = 0;
  bool closed_ = false;
};

// An attempt that the host works on. Destroyed without an end, it has failed.
class AttemptObject final : public HeldObject {
 public:
  static constexpr Kind object_kind = Kind::attempt;

  AttemptObject(std::shared_ptr<ClientState> client, std::shared_ptr<OperationAttempt> attempt,
                OperationRunner::Done done, std::shared_ptr<OpenAttempts> open)
      : HeldObject(object_kind, std::move(client), &attempt->lock),
        attempt_(std::move(attempt)),
        done_(std::move(done)),
        open_(std::move(open)) {}

  void end(const std::exception_ptr& error) const { done_(error); }
  OpenAttempts& open() const { return *open_; }

 private:
  const std::shared_ptr<OperationAttempt> attempt_;
  const OperationRunner::Done done_;
  const std::shared_ptr<OpenAttempts> open_;
};

class OperationObject final : public Object {
 public:
  static constexpr Kind object_kind = Kind::operation;

  explicit OperationObject(std::stop_source stop) : Object(object_kind), stop_(std::move(stop)) {}
  void cancel() { stop_.request_stop(); }

 private:
  std::stop_source stop_;
};

class RunnerObject final : public Object {
 public:
  static constexpr Kind object_kind = Kind::runner;

  RunnerObject(std::shared_ptr<ClientState> client, std::shared_ptr<DeadLetters> letters,
               OperationRunnerOptions options)
      : Object(object_kind),
        client_(std::move(client)),
        letters_(std::move(letters)),
        runner_(client_->client, letters_->sink(), options) {}
  ~RunnerObject() override { attempts_->close(); }

  // \throws as OperationRunner::run_async.
  void submit(Operation operation, std::uint64_t tag, OperationRunOptions options, const std::stop_source& stop);
  void close() { attempts_->close(); }

 private:
  const std::shared_ptr<ClientState> client_;
  const std::shared_ptr<DeadLetters> letters_;
  const std::shared_ptr<OpenAttempts> attempts_ = std::make_shared<OpenAttempts>();
  OperationRunner runner_;  // first to be destroyed: it waits for the operations
};

}  // namespace forelock::capi
