// A replay of dead letters behind a handle: its thread, the letters that the host works on, and its result.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

#include "capi/client_object.h"
#include "capi/dead_letters.h"
#include "capi/operation_objects.h"
#include "forelock/dead_letter_replay.h"

namespace forelock::capi {

// What the thread of a replay and the host share. Thread-safe.
class ReplayState {
 public:
  ReplayState(std::shared_ptr<ClientState> client, std::shared_ptr<DeadLetters> letters, ReplayOptions options,
              std::uint64_t tag);

  // Blocks until the replay has ended, and tells the host: there must be room for that event.
  void run(Handle handle);
  void stop() { stop_.request_stop(); }
  // Besides, ends the attempts that the host has.
  void close();

  // \throws what the replay has thrown; RequestRejectedException(invalid_argument) while it runs.
  std::shared_ptr<const ReplayReport> report() const;
  Client& client() const { return client_->client; }
  EventQueue& events() const { return *client_->events; }

 private:
  // Gives the letter to the host and waits until that has ended it. \throws how it has, unless it was done.
  void hand_over(const ReplayAttempt& attempt);

  const std::shared_ptr<ClientState> client_;
  const std::shared_ptr<DeadLetters> letters_;
  const ReplayOptions options_;
  const std::uint64_t tag_;
  const std::shared_ptr<OpenAttempts> attempts_;
  std::stop_source stop_;

  mutable std::mutex mutex_;  // guards the result
  std::shared_ptr<const ReplayReport> report_;
  std::exception_ptr error_;
};

class ReplayObject final : public Object {
 public:
  static constexpr Kind object_kind = Kind::replay;

  explicit ReplayObject(std::shared_ptr<ReplayState> state) : Object(object_kind), state_(std::move(state)) {}
  // Stops it and waits for its end.
  ~ReplayObject() override;

  // Once. \throws RequestRejectedException(overloaded).
  void start(Handle handle);
  ReplayState& state() const { return *state_; }

 private:
  const std::shared_ptr<ReplayState> state_;
  std::thread thread_;
};

}  // namespace forelock::capi
