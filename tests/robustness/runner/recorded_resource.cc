#include "robustness/runner/recorded_resource.h"

namespace forelock::robustness {

RecordedResource::RecordedResource(std::filesystem::path socket, const std::filesystem::path& directory,
                                   const Excuses& excuses)
    : excuses_(excuses),
      history_(directory, "resource", "resource"),
      server_(
          std::move(socket),
          [this](int visitor, const std::string& request) {
            const std::lock_guard guard(mutex_);
            return std::string(answer(visitors_[visitor], request));
          },
          [this](int visitor) {
            const std::lock_guard guard(mutex_);
            end(visitors_[visitor], "gone");
            visitors_.erase(visitor);
          }) {}

bool RecordedResource::has_met(const std::string& slot) const {
  const std::lock_guard guard(mutex_);
  return met_.contains(slot);
}

std::uint64_t RecordedResource::accepted() const {
  const std::lock_guard guard(mutex_);
  return accepted_;
}

std::uint64_t RecordedResource::overlaps() const {
  const std::lock_guard guard(mutex_);
  return overlaps_;
}

std::optional<RecordedResource::Visit> RecordedResource::inside(const std::string& monitor) const {
  const std::lock_guard guard(mutex_);
  std::optional<Visit> latest;
  for (const auto& [connection, visitor] : visitors_) {
    if (!visitor.visit || visitor.visit->monitor != monitor) continue;
    if (!latest || latest->begun < visitor.visit->begun) latest = visitor.visit;
  }
  return latest;
}

std::set<std::string> RecordedResource::processes_inside() const {
  const std::lock_guard guard(mutex_);
  std::set<std::string> processes;
  for (const auto& [connection, visitor] : visitors_) {
    if (visitor.visit) processes.insert(visitor.visit->process);
  }
  return processes;
}

std::string_view RecordedResource::answer(Visitor& visitor, const std::string& request) {
  std::istringstream words(request);
  std::string what;
  words >> what;
  if (what == "leave") {
    const bool put_out = std::exchange(visitor.put_out, false);
    end(visitor, "left");
    return put_out ? "refused" : "ok";
  }
  Visit visit;
  words >> visit.process >> visit.call >> visit.monitor >> visit.token;
  if (what != "enter" || words.fail()) return "what?";
  visit.begun = Clock::now();
  return enter(visitor, std::move(visit));
}

std::string_view RecordedResource::enter(Visitor& visitor, Visit visit) {
  Highest& highest = highest_[visit.monitor];
  const bool again = visit.token == highest.token && visit.process == highest.process;
  const bool refused = visit.token != 0 && visit.token <= highest.token && !again;
  if (!refused) meet(visitor, visit);
  event("access_begin", visit).add("accepted", !refused);
  if (refused) return "refused";
  if (visit.token > highest.token) highest = {visit.token, visit.process};
  ++accepted_;
  met_.insert(visit.process.substr(0, visit.process.rfind('.')));
  visitor.visit = std::move(visit);
  visitor.put_out = false;
  return "ok";
}

void RecordedResource::meet(Visitor& newcomer, const Visit& visit) {
  for (auto& [connection, other] : visitors_) {
    if (&other == &newcomer || !other.visit || other.visit->monitor != visit.monitor) continue;
    // Under one grant nothing excuses two at once.
    const bool one_grant = visit.token != 0 && visit.token == other.visit->token;
    const std::string because =
        one_grant ? "" : excuses_.reason(other.visit->process, visit.monitor, other.visit->begun);
    if (because.empty()) {
      ++overlaps_;
      continue;
    }
    Highest& highest = highest_[visit.monitor];
    if (highest.token == other.visit->token) highest.process.clear();
    end(other, "fenced", because);
    other.put_out = true;
  }
}

void RecordedResource::end(Visitor& visitor, std::string_view how, const std::string& because) {
  if (!visitor.visit) return;
  HistoryEvent ended = event("access_end", *visitor.visit);
  ended.add("accepted", true).add("how", how);
  if (!because.empty()) ended.add("because", because);
  visitor.visit.reset();
}

HistoryEvent RecordedResource::event(std::string_view name, const Visit& visit) const {
  HistoryEvent begun = history_.event(name);
  begun.add("client", visit.process).add("call", visit.call).add("monitor", visit.monitor);
  begun.add("token", std::to_string(visit.token));
  return begun;
}

}  // namespace forelock::robustness
