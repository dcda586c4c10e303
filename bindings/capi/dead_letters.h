// A DeadLetters is the dead-letter queue behind a handle, as far as this library knows it: the library forelock-dlq,
// which brings SQLite and Kafka along, implements it.
#pragma once

#include <chrono>
#include <memory>
#include <stop_token>
#include <utility>

#include "capi/object.h"
#include "forelock/c.h"
#include "forelock/client.h"
#include "forelock/dead_letter_replay.h"
#include "forelock/dead_letter_sink.h"
#include "forelock/settings.h"

namespace forelock::capi {

struct ClientState;
class QueueLog;

class DeadLetters {
 public:
  virtual ~DeadLetters() = default;
  virtual DeadLetterSink& sink() = 0;
  // \throws Error.
  virtual bool flush(std::chrono::milliseconds timeout) = 0;
  // Its text is valid until this thread's next call. \throws Error.
  virtual fl_dlq_status status() = 0;
  // As those of DeadLetterQueue.
  virtual ReplayReport replay(Client& client, const ReplayHandler& handler, const ReplayOptions& options,
                              std::stop_token stop) = 0;
  virtual ReplayPreview preview_replay(const ReplayOptions& options) = 0;
};

class DeadLettersObject final : public Object {
 public:
  static constexpr Kind object_kind = Kind::dlq;

  DeadLettersObject(std::shared_ptr<DeadLetters> letters, std::shared_ptr<QueueLog> log)
      : Object(object_kind), letters_(std::move(letters)), log_(std::move(log)) {}

  const std::shared_ptr<DeadLetters>& letters() const { return letters_; }
  // For a client, which hears from now on what the queue says.
  const std::shared_ptr<DeadLetters>& letters_for(const ClientState& client) const;

 private:
  const std::shared_ptr<DeadLetters> letters_;
  const std::shared_ptr<QueueLog> log_;
};

using MakeDeadLetters = std::unique_ptr<DeadLetters> (*)(const Settings& settings, LogSink log);

}  // namespace forelock::capi

extern "C" {
// For forelock-dlq alone, which has no access to the handles.
FORELOCK_EXPORT int32_t fl_internal_open_dlq(fl_config config, forelock::capi::MakeDeadLetters make, fl_dlq* dlq);
}
