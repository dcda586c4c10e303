/// \file
/// The dead-letter queue of this library: a durable outbox on this machine and, where Kafka is configured, its topic.
/// Needs the library forelock-dlq (CMake: forelock::dlq).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "forelock/client.h"
#include "forelock/dead_letter_replay.h"
#include "forelock/dead_letter_sink.h"
#include "forelock/export.h"
#include "forelock/settings.h"

namespace forelock {

namespace forward {
class QueueCore;
}

/// The contents of the outbox, and counts of what was taken and delivered. A snapshot.
struct DeadLetterQueueStatistics {
  std::uint64_t outbox_rows = 0;                        ///< letters in the outbox
  std::uint64_t outbox_bytes = 0;                       ///< what they count against `dlq.outbox.max.bytes`
  std::optional<std::chrono::milliseconds> oldest_age;  ///< of the oldest letter in the outbox
  std::uint64_t accepted = 0;                           ///< by this object
  std::uint64_t delivered = 0;                          ///< to Kafka, by this object
  std::uint64_t delivery_failures = 0;                  ///< failed attempts to deliver
  std::string last_problem;                             ///< why the last delivery failed, for people; empty: none has
  bool forwarding = false;  ///< this process pushes to Kafka; false without Kafka, or while another process does
};

/// accept() makes a letter durable in the outbox (`dlq.outbox.path`, SQLite) and returns. Where
/// `kafka.bootstrap.servers` is set, a thread of this object pushes what the outbox holds (this process's letters and
/// those that others left there) to `dlq.topic`, and removes a letter from the outbox only when the broker has
/// confirmed it (acks=all). Without Kafka the outbox is the queue.
///
/// At least once: after a crash a letter may be in the topic twice, with the same `ce_id`. Letters of one monitor keep
/// their order as long as the broker refuses none of them. A letter that the broker refuses for good (too large for the
/// topic, say) stays in the outbox, is named in the log and tried again at intervals; others pass it.
///
/// Several processes may share one outbox; one of them forwards at a time. Thread-safe. After fork() the child cannot
/// use it: accept() throws RequestRejectedException(forked), and the destructor does nothing. It does not keep the
/// files' locks either, so that another process takes over where the parent has died.
class FORELOCK_EXPORT DeadLetterQueue final : public DeadLetterSink {
 public:
  /// Opens or makes the outbox. A damaged file is kept under another name, its readable letters are copied into a new
  /// one, and the log says so. Does not wait for Kafka.
  /// \throws ConfigurationException for invalid settings (unknown Kafka keys, a secret in a file that others can
  /// read); Error(outbox_unavailable) if the outbox cannot be opened.
  explicit DeadLetterQueue(const Settings& settings, LogSink log = {});
  /// Waits at most half a second for confirmations of letters sent to Kafka; the others stay in the outbox.
  ~DeadLetterQueue() override;
  DeadLetterQueue(const DeadLetterQueue&) = delete;
  DeadLetterQueue& operator=(const DeadLetterQueue&) = delete;

  /// A letter with the id of a stored one is another letter, unless time of failure and replay count are equal, too.
  /// \throws Error: outbox_full, outbox_unavailable (disk full, read-only, damaged meanwhile), request_too_large,
  /// invalid_argument (the same letter is already stored with other contents). The letter is not in the queue then.
  void accept(const DeadLetter& letter) override;

  /// Waits until nothing in the outbox is left to be forwarded: the letters of all processes, except those that
  /// were parked. \returns whether that is so, within the timeout. At once false without Kafka, if letters wait.
  /// \throws Error(outbox_unavailable).
  bool flush(std::chrono::milliseconds timeout);

  /// Counts and ages, for metrics. \throws Error(outbox_unavailable).
  DeadLetterQueueStatistics statistics() const;

  /// Puts letters of the queue through the handler, each under its monitor's lock at background priority; as
  /// `forelock dlq replay --execute` does, which it excludes. The queue is the Kafka topic where that is configured,
  /// else the outbox. Letters that come while it runs are left for the next replay.
  ///
  /// One replay at a time over all processes and machines, under a lock of the queue's own. Letters of one monitor go
  /// in the order in which they failed, each at most once in a replay; one that is not done keeps the later ones of its
  /// monitor waiting for the next replay, and no others. Each try is counted durably before the handler is called;
  /// a letter of which `max_tries` have begun and none has ended well is parked. A letter leaves the queue when the
  /// handler has returned and its lock was certain to be held until then. At least once: the handler may be called
  /// again for a letter that it has done, if the lock was lost or the process died before that was recorded; the id is
  /// the idempotency key.
  ///
  /// Blocks until all is done or put off, or `stop` was requested and the handlers under way have returned: they are
  /// told by ReplayAttempt::stop, and not interrupted. Not from a callback of this library. Client and queue must
  /// outlive the call; a handler may close the client, which ends the replay (stopped, or closed), and must not destroy
  /// either. Memory: at most 4,096 letters and about 16 MiB of them, read ahead, and those under way.
  /// \throws InstanceLockException: lock_timeout, naming the holder, if another replay or change of the queue is at
  /// work for longer than the lock of a killed one lives on; cancelled, when it was stopped before it began.
  /// RequestRejectedException: invalid_argument for an empty handler or impossible options, closed, forked.
  /// ConnectionLossException, SessionExpiredException; Error: kafka_unavailable, kafka_rejected, outbox_unavailable,
  /// when work under way has ended: letters that are done stay done.
  ReplayReport replay(Client& client, const ReplayHandler& handler, const ReplayOptions& options = {},
                      std::stop_token stop = {});

  /// The expected outcome of replay() with these options: reads the queue, and
  /// changes nothing. Needs no ZooKeeper. \throws Error: kafka_unavailable, kafka_rejected, outbox_unavailable.
  ReplayPreview preview_replay(const ReplayOptions& options = {}) const;

 private:
  std::unique_ptr<forward::QueueCore> core_;
};

}  // namespace forelock
