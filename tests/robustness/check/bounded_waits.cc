
#include "robustness/check/describe.h"
#include "robustness/check/rules.h"

namespace forelock::robustness {
namespace {

// How much of the time between the two the process could not run.
Span stood_still(const Process& process, Instant begin, Instant end) {
  Span total{0};
  for (const Interval& still : process.still) {
    const Instant from = std::max(begin, still.begin);
    const Instant to = std::min(end, still.end);
    if (from < to) total += to - from;
  }
  return total;
}

class Judge {
 public:
  Judge(const History& history, const Bounds& bounds) : history_(history), bounds_(bounds) {}

  void judge(const Call& call) {
    const Process& process = history_.process_of(call);
    if (process.kind == Kind::literal) return;  // promises nothing
    const Span bound = process.kind == Kind::cli ? bounds_.command : bounds_.library;
    if (call.deadline) {
      const Instant ended = std::min(call.granted, call.refused);
      judge(call, "asked for", call.invoked, *call.deadline + bound, ended);
    }
    if (call.release != never && process.session_timeout > Span{0}) {
      Span allowed = process.session_timeout;
      // Looked for where it matters alone: there are many calls.
      if (taken(call, call.release, call.released) > allowed + bound) {
        allowed = std::max(allowed, time_to_step_aside(call));
      }
      judge(call, "released", call.release, allowed + bound, call.released);
    }
  }

  Findings findings;

 private:
  // A holder that steps aside tells what became of its release when that has ended: by the deadline of the next call.
  Span time_to_step_aside(const Call& call) const {
    const auto same = [&](const Call& next) {
      return next.steps_aside && next.process == call.process && next.monitor == call.monitor &&
             next.invoked >= call.release && next.invoked <= call.released && next.deadline;
    };
    const auto found = std::find_if(history_.calls.begin(), history_.calls.end(), same);
    return found == history_.calls.end() ? Span{0} : *found->deadline;
  }

  // Pauses do not count.
  Span taken(const Call& call, Instant begun, Instant ended) const {
    const Process& process = history_.process_of(call);
    // Of a call that has not ended, only that it went on while its process lived.
    const Instant until = ended == never ? process.last : ended;
    return until - begun - stood_still(process, begun, until);
  }

  void judge(const Call& call, const char* what, Instant begun, Span allowed, Instant ended) {
    ++findings.judged;
    const Span time = taken(call, begun, ended);
    if (time <= allowed) return;
    findings.violated(text_of(history_, call) + ", " + what + " at " + text_of(history_, begun) +
                      (ended == never ? ", had not ended after " : ", ended after ") + text_of(time) +
                      " (pauses not counted); allowed are " + text_of(allowed));
  }

  const History& history_;
  const Bounds& bounds_;
};

}  // namespace

Findings bounded_waits(const History& history, const Bounds& bounds) {
  Judge judge(history, bounds);
  for (const Call& call : history.calls) judge.judge(call);
  for (const std::string& process : history.hung) judge.findings.violated(process + " did not end");
  return judge.findings;
}

}  // namespace forelock::robustness
