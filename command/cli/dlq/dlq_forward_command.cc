// forelock dlq forward: pushes the outbox to Kafka.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/connection.h"
#include "cli/dlq/dlq_commands.h"
#include "cli/dlq/dlq_filter.h"
#include "cli/dlq/letters_text.h"
#include "cli/exit_code.h"
#include "cli/failure.h"
#include "cli/output/quantity_text.h"
#include "cli/process/signal_queue.h"
#include "cli/process/task.h"
#include "forelock/error.h"
#include "forward/forward_all.h"
#include "kafka/queue_topics.h"

namespace forelock::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds between_forward_lines{5};

// Says on stderr how it goes on: what is new at once, the rest now and then.
class ForwardNews {
 public:
  explicit ForwardNews(const Console& console) : console_(console) {}

  void tell(const forward::ForwardProgress& progress) {
    if (!console_.text()) return;
    const auto now = Clock::now();
    if (progress.another_forwards && progress.waiting > 0 && !std::exchange(told_of_other_, true))
      console_.note("another process forwards this outbox; waiting for it");
    if (progress.last_problem != last_problem_) {
      last_problem_ = progress.last_problem;
      console_.note(printable("Kafka: " + last_problem_ + "; trying again"));
    }
    if (progress.waiting == 0 || now - told_at_ < between_forward_lines) return;
    told_at_ = now;
    console_.note(count_of_letters(progress.waiting) + " to go, " + std::to_string(progress.delivered) + " forwarded");
  }

 private:
  const Console& console_;
  Clock::time_point told_at_ = Clock::now();
  bool told_of_other_ = false;
  std::string last_problem_;
};

class DlqForwardCommand final : public Command {
 public:
  CLI::App* add_to(CLI::App& root) override {
    CLI::App* app = root.add_subcommand("forward", "Push this machine's outbox to Kafka until it is empty");
    add_duration(*app, "--timeout", timeout_,
                 "Give up after this long (exit 69), also while Kafka is away or permits no writing; "
                 "the remaining letters stay [never]");
    app->add_flag("--follow", follow_, "Continue with later letters until a signal ends it (exit 0): for a service");
    app->footer("Example: forelock dlq forward --timeout 1m");
    return app;
  }

  int run(const Context& context) override {
    const Settings settings = context.globals.settings();
    require_kafka(settings, "forward");
    if (follow_ && timeout_) throw_usage("forward: --follow and --timeout: one of them");
    SignalQueue signals({SIGINT, SIGTERM, SIGHUP});
    std::stop_source stop;
    ForwardNews news(context.console);
    Task<forward::ForwardProgress> running([&] {
      return forward::forward_all(
          settings, dead_letter_log(context.console), [&news](const forward::ForwardProgress& p) { news.tell(p); },
          stop.get_token(), follow_ ? forward::ForwardUntil::stopped : forward::ForwardUntil::empty);
    });
    const Clock::time_point until = timeout_ ? Clock::now() + *timeout_ : Clock::time_point::max();
    std::optional<int> ended_by;
    while (!running.done()) {
      if (const auto signal = signals.wait(running.wake_up(), stop.stop_requested() ? Clock::time_point::max() : until))
        ended_by = signal;
      if (ended_by || Clock::now() >= until) stop.request_stop();
    }
    const forward::ForwardProgress progress = running.result();
    if (progress.delivered > 0) warn_of_topics(context.console, settings);
    report(context.console, settings, progress);
    if (progress.waiting == 0 || (follow_ && ended_by)) return exit_ok;
    if (ended_by) return exit_signalled(*ended_by);
    fail(progress);
  }

 private:
  static void warn_of_topics(const Console& console, const Settings& settings) {
    try {
      for (const kafka::TopicFault& fault : kafka::queue_faults(settings, dead_letter_log(console)))
        console.warn(printable(fault.text() + " (forelock dlq init --alter)"));
    } catch (const Error&) {
      // The letters are there. That their topic cannot be looked at is for `dlq init` to say.
    }
  }

  static void report(const Console& console, const Settings& settings, const forward::ForwardProgress& progress) {
    if (!console.text()) {
      console.write_json({{"forwarded", progress.delivered},
                          {"waiting", progress.waiting},
                          {"refused", progress.refused},
                          {"topic", settings.dlq_topic()}});
      return;
    }
    std::string text =
        "forwarded " + count_of_letters(progress.delivered) + " to the topic " + settings.dlq_topic() + "; ";
    text += progress.waiting == 0 ? "the outbox is empty" : count_of_letters(progress.waiting) + " left in the outbox";
    console.write(text + '\n');
  }

  [[noreturn]] static void fail(const forward::ForwardProgress& progress) {
    const bool refused = progress.refused == progress.waiting;
    const std::string why = progress.another_forwards       ? ": another process forwards this outbox"
                            : progress.last_problem.empty() ? ""
                                                            : ": " + progress.last_problem;
    throw FailureException(
        {refused ? exit_failed : exit_unavailable,
         std::string(name_of(refused ? ErrorCode::kafka_rejected : ErrorCode::kafka_unavailable)),
         count_of_letters(progress.waiting) + (refused ? " refused by Kafka" : " not forwarded in time") + why,
         refused ? "they stay in the outbox: forelock dlq list --outbox" : "they stay in the outbox; run it again",
         {},
         !refused,
         {}});
  }

  std::optional<std::chrono::milliseconds> timeout_;
  bool follow_ = false;
};

}  // namespace

std::unique_ptr<Command> make_dlq_forward_command() {
  return std::make_unique<DlqForwardCommand>();
}

}  // namespace forelock::cli
