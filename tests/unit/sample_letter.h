#pragma once

#include "forelock/dead_letter_sink.h"
#include "support/standard.h"

namespace forelock::test {

// 2025-11-21T13:45:00.123Z
inline constexpr WallTime sample_time{std::chrono::milliseconds(1763732700123)};

// A letter with something in every field.
inline DeadLetter sample_letter(std::string id = "5f0c1a2e-0001-4000-8000-000000000001",
                                std::string payload = "some bytes") {
  DeadLetter letter;
  letter.id = std::move(id);
  letter.type = "saveContent";
  letter.monitor = "P1";
  letter.lock_info = "Bulk propagation";
  letter.payload = std::move(payload);
  letter.reason = "lock_timeout";
  letter.attempts = {
      {1, sample_time, "connection_loss", "No server could be reached", std::chrono::milliseconds(0)},
      {2, sample_time + std::chrono::seconds(3), "lock_timeout", "Not obtained", std::chrono::milliseconds(2000)}};
  letter.max_attempts = 4;
  letter.enqueued_at = sample_time - std::chrono::seconds(1);
  letter.failed_at = sample_time + std::chrono::seconds(3);
  letter.replay_count = 1;
  letter.client = {"node-1", 4711, "node-1/4711", "0.1.0"};
  letter.traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  return letter;
}

// Everything in a letter, to be compared and printed by name of the first difference.
inline auto fields_of(const DeadLetter& letter) {
  std::string attempts;
  for (const FailedAttempt& attempt : letter.attempts) {
    attempts += std::to_string(attempt.number) + ' ' + std::to_string(attempt.at.time_since_epoch().count()) + ' ' +
                attempt.code + ' ' + attempt.message + ' ' + std::to_string(attempt.waited.count()) + '\n';
  }
  return std::tuple(letter.id, letter.type, letter.monitor, letter.priority, letter.lock_info, letter.payload,
                    letter.reason, attempts, letter.max_attempts, letter.enqueued_at.time_since_epoch().count(),
                    letter.failed_at.time_since_epoch().count(), letter.replay_count, letter.client.host,
                    letter.client.pid, letter.client.instance, letter.client.version, letter.traceparent);
}

}  // namespace forelock::test
