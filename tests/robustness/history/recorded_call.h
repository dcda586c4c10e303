// One acquisition in a history, from its beginning to the end of its release.
#pragma once

#include "forelock/owner_record.h"
#include "records/session_text.h"
#include "robustness/history/history_writer.h"

namespace forelock::robustness {

class RecordedCall {
 public:
  RecordedCall(HistoryWriter& writer, std::string monitor, Priority priority)
      : RecordedCall(writer, writer.next_call(), std::move(monitor), priority) {}
  // One that another process has begun.
  RecordedCall(HistoryWriter& writer, std::uint64_t number, std::string monitor, Priority priority)
      : writer_(&writer), number_(number), monitor_(std::move(monitor)), priority_(priority) {}

  // A new one for the same monitor and class.
  RecordedCall next(Priority priority) const { return {*writer_, monitor_, priority}; }

  std::uint64_t number() const { return number_; }
  const std::string& monitor() const { return monitor_; }

  void invoke(std::chrono::milliseconds deadline, std::string_view mode) const {
    event("invoke").add("deadline_ms", deadline.count()).add("mode", mode);
  }
  void granted(std::int64_t token, std::string_view guid, std::int64_t session) const {
    event("granted")
        .add("token", std::to_string(token))
        .add("node", "")
        .add("guid", guid)
        .add("session", records::session_text(session));
  }
  void refused(std::string_view code) const { event("refused").add("code", code); }
  void lost(std::string_view reason) const { event("lost").add("reason", reason); }
  void released(std::string_view code) const { event("released").add("code", code); }

  // Any other one: "unhealthy", "release", …
  HistoryEvent event(std::string_view name) const {
    HistoryEvent begun = writer_->event(name);
    begun.add("call", number_).add("monitor", monitor_).add("priority", name_of(priority_));
    return begun;
  }

 private:
  HistoryWriter* writer_;
  std::uint64_t number_;
  std::string monitor_;
  Priority priority_;
};

}  // namespace forelock::robustness
