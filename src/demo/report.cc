#include "demo/report.h"

#include "demo/text.h"

namespace forelock::demo {
namespace {

void table_row(std::ostream& out, const std::string& name, const WaitSummary& waits) {
  out << left(name, 36) << right(std::to_string(waits.granted), 8) << right(in_ms(waits.p50), 8)
      << right(in_ms(waits.p99), 8) << right(in_ms(waits.longest), 9) << right(std::to_string(waits.timed_out), 11)
      << '\n';
}

class Checks {
 public:
  Checks(std::ostream& out, const Style& style) : out_(out), style_(style) {}

  void that(bool holds, const std::string& passed, const std::string& failed) {
    out_ << "  " << (holds ? style_.good("passed") : style_.bad("FAILED")) << "  " << (holds ? passed : failed) << '\n';
    all_ = all_ && holds;
  }
  bool all() const { return all_; }

 private:
  std::ostream& out_;
  const Style& style_;
  bool all_ = true;
};

}  // namespace

bool report(std::ostream& out, const Style& style, const PhaseResult& priorities, const PhaseResult& one_queue,
            const StoreVerdict& store) {
  out << style.bold("How long work waited for its locks, in milliseconds") << "\n\n"
      << style.dim("                                       locks     p50     p99  longest  timed out") << '\n';
  out << style.interactive("interactive saves") << '\n';
  table_row(out, "  foreground before background", priorities.interactive);
  table_row(out, "  one queue, first come first served", one_queue.interactive);
  out << style.bulk("bulk propagation") << '\n';
  table_row(out, "  foreground before background", priorities.bulk);
  table_row(out, "  one queue, first come first served", one_queue.bulk);

  out << '\n' << style.bold("What the articles saw, and what else must be true") << "\n\n";
  Checks checks(out, style);
  checks.that(
      store.overlaps == 0 && store.begun > 0, std::to_string(store.begun) + " changes, no two of an article at a time",
      std::to_string(store.overlaps) + " of " + std::to_string(store.begun) + " changes overlapped another one");
  checks.that(store.begun == store.finished && store.lost == 0, "no change was lost",
              std::to_string(store.lost) + " changes were lost, " + std::to_string(store.begun - store.finished) +
                  " not finished");
  checks.that(store.stale_tokens == 0, "fencing tokens rose strictly on every article",
              std::to_string(store.stale_tokens) + " changes came with a token that was not above all earlier ones");
  const std::size_t failures = priorities.failures + one_queue.failures;
  checks.that(failures == 0, "no lock failed but by its configured time-out",
              std::to_string(failures) + " locks failed; last: " +
                  (one_queue.failures > 0 ? one_queue.last_failure : priorities.last_failure));
  checks.that(priorities.interactive.timed_out == 0, "no interactive save timed out behind bulk work",
              std::to_string(priorities.interactive.timed_out) + " interactive saves timed out");
  checks.that(priorities.interactive.granted > 0 && priorities.interactive.p50 < one_queue.interactive.p50,
              "half of the interactive saves waited no longer than " + in_ms(priorities.interactive.p50) +
                  " ms; in one queue " + in_ms(one_queue.interactive.p50) + " ms",
              "interactive saves did not wait less than in one queue");
  return checks.all();
}

}  // namespace forelock::demo
