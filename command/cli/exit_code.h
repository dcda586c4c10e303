// Exit codes of the command: a contract that scripts depend on.
#pragma once

namespace forelock::cli {

inline constexpr int exit_ok = 0;
inline constexpr int exit_failed = 1;  // the answer is no: unknown monitor, the holder changed, …
inline constexpr int exit_usage = 64;
inline constexpr int exit_unavailable = 69;  // ZooKeeper or Kafka unreachable, or it lost us
inline constexpr int exit_internal = 70;
inline constexpr int exit_not_stored = 73;  // an operation failed and the dead-letter queue did not take it
inline constexpr int exit_output = 74;      // the result, or the outbox, could not be written or read
inline constexpr int exit_not_in_time = 75;
inline constexpr int exit_lock_lost = 76;  // while the child ran
inline constexpr int exit_not_authorized = 77;
inline constexpr int exit_configuration = 78;
inline constexpr int exit_dead_lettered = 79;  // an operation failed and is in the dead-letter queue
inline constexpr int exit_cannot_execute = 126;
inline constexpr int exit_command_not_found = 127;

// Ended by a signal, as the shell puts it.
constexpr int exit_signalled(int signal) {
  return 128 + signal;
}

}  // namespace forelock::cli
