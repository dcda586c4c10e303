// A resource protected by the locks of a run: refuses tokens that do not rise, and records every access.
#pragma once

#include "robustness/history/history_writer.h"
#include "robustness/runner/excuses.h"
#include "support/visit_server.h"

namespace forelock::robustness {

// Listens on a local socket; history/resource_visitor.h has the words. One resource for each monitor. Thread-safe.
//
// A token that is refused from now on ends an older access only if there is an excuse for its holder. Otherwise the
// access stays open: an overlap is to be seen. The highest token comes again only from the process that had it, which
// may have kept the lock meanwhile, and only if it has not been ended in this way.
class RecordedResource {
 public:
  using Clock = std::chrono::steady_clock;

  struct Visit {
    std::string process;
    std::uint64_t call = 0;
    std::string monitor;
    std::int64_t token = 0;
    Clock::time_point begun{};
  };

  // Throws std::system_error. The others must outlive it.
  RecordedResource(std::filesystem::path socket, const std::filesystem::path& directory, const Excuses& excuses);

  const std::filesystem::path& socket() const { return server_.socket(); }
  std::uint64_t accepted() const;
  // Whether a process of this slot has ever been inside.
  bool has_met(const std::string& slot) const;
  // Accesses that began while another one was open, as far as tokens tell.
  std::uint64_t overlaps() const;
  // Who is inside, the latest if there are several.
  std::optional<Visit> inside(const std::string& monitor) const;
  // The processes that are inside somewhere.
  std::set<std::string> processes_inside() const;

 private:
  struct Visitor {
    std::optional<Visit> visit;
    bool put_out = false;  // its access was ended by a higher token
  };

  struct Highest {
    std::int64_t token = 0;
    std::string process;  // empty: it was put out
  };

  std::string_view answer(Visitor& visitor, const std::string& request);
  std::string_view enter(Visitor& visitor, Visit visit);
  void meet(Visitor& newcomer, const Visit& visit);
  void end(Visitor& visitor, std::string_view how, const std::string& because = {});
  HistoryEvent event(std::string_view name, const Visit& visit) const;

  const Excuses& excuses_;
  HistoryWriter history_;
  mutable std::mutex mutex_;
  std::map<int, Visitor> visitors_;         // by connection
  std::map<std::string, Highest> highest_;  // by monitor
  std::uint64_t accepted_ = 0;
  std::set<std::string> met_;  // slots
  std::uint64_t overlaps_ = 0;
  test::VisitServer server_;
};

}  // namespace forelock::robustness
