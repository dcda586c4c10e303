#include "cli/serve/letter_acts.h"

#include <chrono>
#include <stop_token>

#include "cli/audit.h"
#include "cli/dlq/letter_restoring.h"
#include "cli/serve/act_answer.h"
#include "drain/open_store.h"
#include "forward/forward_all.h"
#include "forward/open_outbox.h"

namespace forelock::cli {
namespace {

using Clock = std::chrono::steady_clock;

// Others wait for their acts meanwhile.
constexpr std::chrono::seconds longest_forwarding{5};

}  // namespace

web::Response unpark_letter(const Settings& settings, const LogSink& log, const Console& console, const std::string& id,
                            const std::string& by, const std::string& reason) {
  const auto store = drain::open_store(settings, drain::StoreKind::configured, log, drain::StoreAccess::change);
  const auto letter = store->find(id);  // its beginning would not do: see Purpose::change
  if (!letter) return act_refused(404, "unknown_letter", "nothing was done: there is no such dead letter");
  if (letter->state != drain::LetterState::parked)
    return act_refused(409, "not_parked", "nothing was done: the letter is not parked");
  LetterRestoring restoring(console, settings, *store, {"unpark", id, by, reason});
  restoring.letter(*letter);
  const RestoringReport report = restoring.settle();
  if (report.refused > 0)
    return act_refused(409, "refused", "nothing was done: another letter with its id is in the queue");
  return act_said({{"id", id}, {"unparked", true}, {"reason", reason}});
}

web::Response forward_letters(const Settings& settings, const LogSink& log, const Console& console,
                              const std::string& by, const std::string& reason) {
  if (!forward::kafka_is_configured(settings))
    return act_refused(409, "no_kafka", "nothing was done: no Kafka is configured, and the outbox is the queue");
  DrainAudit record{"forward", "outbox", 0, "--all", begun, by, reason};
  audit_drain(record, console);
  std::stop_source stop;
  const auto until = Clock::now() + longest_forwarding;
  forward::ForwardProgress progress;
  try {
    progress = forward::forward_all(
        settings, log,
        [&](const forward::ForwardProgress&) {
          if (Clock::now() >= until) stop.request_stop();
        },
        stop.get_token());
  } catch (...) {
    record.result = "failed";
    audit_drain(record, console);
    throw;
  }
  record.result = "forwarded " + std::to_string(progress.delivered);
  audit_drain(record, console);
  nlohmann::ordered_json json = {{"forwarded", progress.delivered},
                                 {"waiting", progress.waiting},
                                 {"refused", progress.refused},
                                 {"another_forwards", progress.another_forwards},
                                 {"problem", nullptr}};
  if (!progress.last_problem.empty()) json["problem"] = progress.last_problem;
  return act_said(json);
}

}  // namespace forelock::cli
