// A RequestJudge holds every request of an engine against what docs/protocol.md lets a client send.
#pragma once

#include "checker.h"
#include "coordination/request.h"
#include "plan.h"

namespace forelock::simulation {

// Whether it makes and deletes, one monitor after the other, a child that nobody sees: so that other processes give up
// locks that they keep unused.
bool is_knock(const coordination::Request& request);

class RequestJudge {
 public:
  RequestJudge(const Plan& plan, Checker& checker) : plan_(plan), checker_(checker) {}

  // Returns the contender whose lock the request gives up, 0 for none.
  std::uint64_t sent(const Believer& process, coordination::RequestTag tag, const coordination::Request& request);

  // --- what a process knows of the monitors: it may delete those alone that carry the mark, as far as it knows ---

  void answered(const Believer& process, coordination::RequestTag tag, const coordination::Reply& reply);
  void watch_delivered(const Believer& process, const coordination::WatchEvent& event);
  // What it knew may have changed unnoticed.
  void disconnected(const Believer& process);

 private:
  struct Part;

  void add(Part& whole, std::string_view verb, const std::string& path) const;
  std::uint64_t owner_of(const Believer& process, std::string_view path) const;
  bool names_repeat(std::uint64_t owner) const;
  void fail(const coordination::Request& request, const std::string& text);
  void note_asked(const Believer& process, coordination::RequestTag tag, const coordination::Request& request);

  const Plan& plan_;
  Checker& checker_;
  // Requests under way whose answer tells of a monitor's node; of those that make or delete it only the success does.
  struct Asked {
    std::size_t monitor = 0;
    bool reads = false;
    bool makes = false;
  };
  std::map<std::pair<const Believer*, coordination::RequestTag>, std::vector<Asked>> asked_;
  std::set<std::pair<const Believer*, std::size_t>> marked_;
};

}  // namespace forelock::simulation
