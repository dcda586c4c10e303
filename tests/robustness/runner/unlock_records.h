// The acts that the unlockers of a run put on record, before they do them and after.
#pragma once

#include "robustness/runner/excuses.h"
#include "robustness/runner/fault_log.h"

namespace forelock::robustness {

// Thread-safe. Each act is a fault of the kind `overdue_deleted` from the time of its record on: whoever has lost its
// lock by it may not know that yet. One that says that it has done nothing is no fault, and excuses nobody any more.
class UnlockRecords {
 public:
  // `file`: their audit file, which need not be there yet.
  UnlockRecords(std::filesystem::path file, FaultLog& log, Excuses& excuses);

  // Takes what has come since the last call.
  void read();
  // Nothing will come any more: what has no end may have been done.
  void finish();
  // How many holders have been freed.
  std::size_t freed() const;
  // What is wrong with the records, a line each: an act without its begin, one whose process went on without saying
  // what became of it, a holder that was freed twice.
  std::vector<std::string> problems() const;

 private:
  struct Act {
    std::string monitor;
    std::string holder;  // NODE@TOKEN
    bool operator==(const Act&) const = default;
  };
  struct Begun {
    Act act;
    HistoryEvent::Clock::time_point at;
  };

  void take(const std::string& line);
  void begin(const std::string& who, const Act& act, const std::string& at);
  // May have been done.
  void excuse(const std::string& who, const Begun& begun);
  void end(const std::string& who, const Act& act, const std::string& result);

  const std::filesystem::path file_;
  FaultLog& log_;
  Excuses& excuses_;
  mutable std::mutex mutex_;
  std::streamoff read_ = 0;
  std::map<std::string, Begun> open_;  // by process; of one that was killed it stays
  std::set<std::string> freed_;        // MONITOR HOLDER
  std::vector<std::string> problems_;
};

}  // namespace forelock::robustness
