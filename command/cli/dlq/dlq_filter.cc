#include "cli/dlq/dlq_filter.h"

#include <CLI/CLI.hpp>
#include <utility>

#include "cli/connection.h"
#include "cli/failure.h"
#include "cli/hints.h"
#include "cli/not_empty.h"
#include "cli/output/quantity_text.h"
#include "forelock/error.h"
#include "forward/open_outbox.h"

namespace forelock::cli {
namespace {

constexpr const char* group = "Which letters (all must hold; of several values of one, any)";

std::optional<WallTime> instant_of(const char* option, const std::string& text, WallTime now) {
  if (text.empty()) return std::nullopt;
  const auto instant = parse_instant(text, now);
  if (!instant) {
    throw_usage(std::string("dlq: ") + option + ' ' + text + ": no time",
                "an instant such as 2025-11-21T03:00:00Z, or an age such as 90s, 15m, 2h, 3d");
  }
  return instant;
}

}  // namespace

void DlqFilter::add_to(CLI::App& app) {
  app.add_option("--since", since_, "Failed at this time or later: 2025-11-21T03:00:00Z, or an age: 90s, 15m, 2h, 3d")
      ->type_name("TIME")
      ->check(not_empty())
      ->group(group);
  app.add_option("--until", until_, "Failed before this time")->type_name("TIME")->check(not_empty())->group(group);
  const auto names = [&app](const char* name, std::vector<std::string>& target, const char* help) {
    app.add_option(name, target, help)->type_name("TEXT")->allow_extra_args(false)->check(not_empty())->group(group);
  };
  names("--reason", reasons_, "With this reason, e.g. lock_timeout; may be repeated");
  names("--type", types_, "Of this type of operation; may be repeated");
  names("--monitor", monitors_, "Of this monitor; may be repeated");
  names("--id", ids_, "With this id (its beginning will do for a look), or position, if unreadable; may be repeated");
  app.add_flag("--parked", parked_, "Parked letters instead of queued ones")->group(group);
  app.add_flag("--outbox", outbox_, "Letters in this machine's outbox even if Kafka is configured")->group(group);
}

drain::LetterFilter DlqFilter::filter(WallTime now) const {
  drain::LetterFilter filter;
  filter.ids = ids_;
  filter.monitors = monitors_;
  filter.types = types_;
  filter.reasons = reasons_;
  filter.since = instant_of("--since", since_, now);
  filter.until = instant_of("--until", until_, now);
  filter.parked = parked_;
  return filter;
}

drain::StoreKind DlqFilter::store_kind() const {
  return outbox_ ? drain::StoreKind::outbox : drain::StoreKind::configured;
}

bool DlqFilter::narrows() const {
  return !(since_.empty() && until_.empty() && reasons_.empty() && types_.empty() && monitors_.empty() && ids_.empty());
}

std::string DlqFilter::words(const std::vector<std::string>& ids) const {
  std::string text;
  const auto add = [&text](const char* option, const std::string& value) {
    if (!value.empty()) text += std::string(" ") + option + ' ' + shell_quoted(value);
  };
  add("--since", since_);
  add("--until", until_);
  for (const auto& [option, values] :
       {std::pair("--reason", &reasons_), {"--type", &types_}, {"--monitor", &monitors_}, {"--id", &ids}}) {
    for (const std::string& value : *values) add(option, value);
  }
  if (parked_) text += " --parked";
  if (outbox_) text += " --outbox";
  return text;
}

std::unique_ptr<drain::LetterStore> open_letters(const Context& context, drain::StoreKind kind) {
  return drain::open_store(context.globals.settings(), kind, dead_letter_log(context.console),
                           drain::StoreAccess::look);
}

void require_kafka(const Settings& settings, const std::string& who) {
  if (forward::kafka_is_configured(settings)) return;
  throw Error(ErrorCode::configuration, {}, who + " needs Kafka, and kafka.bootstrap.servers is not set",
              "set it in the settings file, or: --set kafka.bootstrap.servers=HOST:PORT");
}

}  // namespace forelock::cli
