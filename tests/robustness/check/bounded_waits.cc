#include <algorithm>
#include <string>

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
      judge(call, "released", call.release, process.session_timeout + bound, call.released);
    }
  }

  Findings findings;

 private:
  void judge(const Call& call, const char* what, Instant begun, Span allowed, Instant ended) {
    ++findings.judged;
    const Process& process = history_.process_of(call);
    // Of a call that has not ended, only that it went on while its process lived.
    const Instant until = ended == never ? process.last : ended;
    const Span taken = until - begun - stood_still(process, begun, until);
    if (taken <= allowed) return;
    findings.violated(text_of(history_, call) + ", " + what + " at " + text_of(history_, begun) +
                      (ended == never ? ", had not ended after " : ", ended after ") + text_of(taken) +
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
