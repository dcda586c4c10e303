// Runners, operations under way and their attempts, behind handles.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
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
  // `why`: for people, said of what close() ends.
  explicit OpenAttempts(std::string why) : why_(std::move(why)) {}

  // What an attempt that close() comes to ends with.
  std::exception_ptr closed_error() const;

  // An operation begins, which close() withdraws. \returns its number, for end().
  std::uint64_t begin(std::stop_source operation);
  void end(std::uint64_t operation);

  // False if no more are begun.
  bool add(Handle attempt);
  void remove(Handle attempt);
  // Withdraws the operations, so that their callers keep them, and fails all attempts; later ones are not begun.
  void close();

 private:
  const std::string why_;
  std::mutex mutex_;
  std::unordered_set<Handle> attempts_;
  std::unordered_map<std::uint64_t, std::stop_source> operations_;
  std::uint64_t last_operation_ = 0;
  bool closed_ = false;
};

// A dead letter that is replayed, as long as an attempt or a caller needs it.
struct ReplayedLetter {
  DeadLetter letter;
  std::uint32_t tries = 0;
  std::stop_token stop;
};

// An attempt that the host works on, at an operation or a dead letter. Destroyed without an end, it has failed.
class AttemptObject final : public HeldObject {
 public:
  static constexpr Kind object_kind = Kind::attempt;

  // `owner` keeps the lock. `letter`: null for an operation's.
  AttemptObject(std::shared_ptr<ClientState> client, WriteLock& lock, std::shared_ptr<const void> owner,
                OperationRunner::Done done, std::shared_ptr<OpenAttempts> open,
                std::shared_ptr<const ReplayedLetter> letter = {})
      : HeldObject(object_kind, std::move(client), FacedLock::slot_of(lock)),
        owner_(std::move(owner)),
        done_(std::move(done)),
        open_(std::move(open)),
        letter_(std::move(letter)) {}

  void end(const std::exception_ptr& error) const { done_(error); }
  OpenAttempts& open() const { return *open_; }
  const std::shared_ptr<const ReplayedLetter>& letter() const { return letter_; }

 private:
  const std::shared_ptr<const void> owner_;
  const OperationRunner::Done done_;
  const std::shared_ptr<OpenAttempts> open_;
  const std::shared_ptr<const ReplayedLetter> letter_;
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
  const std::shared_ptr<OpenAttempts> attempts_ = std::make_shared<OpenAttempts>("the runner was freed");
  OperationRunner runner_;  // first to be destroyed: it waits for the operations
};

}  // namespace forelock::capi
