#include "cli/serve/history/history_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/output/quantity_text.h"
#include "config/quantity.h"
#include "records/wall_time.h"
#include "web/request_check.h"

namespace forelock::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::chrono::hours usual_span{1};
constexpr std::int64_t most_stays = 5000;
constexpr std::size_t most_plotted = 100'000;

Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

Json json_of(const Stay& stay) {
  return {{"kind", stay.kind == Stay::Kind::hold ? "hold" : "wait"},
          {"who", text_or_null(stay.who)},
          {"info", stay.info},
          {"priority", stay.priority ? Json(std::string(name_of(*stay.priority))) : Json(nullptr)},
          {"token", stay.kind == Stay::Kind::hold ? Json(std::to_string(stay.token)) : Json(nullptr)},
          {"from", records::format_wall_time(stay.from)},
          {"to", stay.to ? Json(records::format_wall_time(*stay.to)) : Json(nullptr)},
          {"unseen_since", stay.unseen_since ? Json(records::format_wall_time(*stay.unseen_since)) : Json(nullptr)},
          {"outcome", text_or_null(stay.outcome)},
          {"reason", text_or_null(stay.reason)}};
}

Json json_with_stack(const Stay& stay) {
  Json json = json_of(stay);
  json["stack"] = stay.stack();
  return json;
}

Json json_of(const WaitPlot& plot) {
  Json parts = Json::array();
  for (const WaitPlot::Part& part : plot.parts) {
    Json json = {{"from", records::format_wall_time(part.from)}};
    for (const Priority priority : all_priorities) {
      const auto& waits = part.waits[priority];
      Json of_class(nullptr);
      if (waits) of_class = {{"count", waits->count}, {"p50_ms", waits->p50.count()}, {"p99_ms", waits->p99.count()}};
      json[std::string(name_of(priority))] = of_class;
    }
    json["grants"] = {{"foreground", part.grants[Priority::foreground]},
                      {"background", part.grants[Priority::background]},
                      {"unknown", part.grants_of_no_class}};
    json["taken_away"] = part.taken_away;
    parts.push_back(std::move(json));
  }
  return parts;
}

// Whether it lasted at that moment. It ends before the instant at which the next one begins.
bool lasts_at(const Stay& stay, WallTime at) {
  return stay.from <= at && (!stay.to || *stay.to > at);
}

}  // namespace

std::optional<HistoryQuestion> parse_question(const std::string& monitor, const std::string& query, WallTime now,
                                              std::string& problem) {
  HistoryQuestion question{monitor, now - usual_span, now, {}, 500};
  const auto parameters = web::parse_query(query);
  if (!parameters) {
    problem = "the query is invalid";
    return std::nullopt;
  }
  bool has_from = false;
  for (const auto& [name, value] : *parameters) {
    if (name == "limit") {
      const auto most = config::parse_number(value);
      if (most && *most > 0 && *most <= most_stays) {
        question.most = static_cast<std::size_t>(*most);
        continue;
      }
      problem = "limit: a number from 1 to 5000 is expected";
      return std::nullopt;
    }
    const auto instant = parse_instant(value, now);
    if ((name != "at" && name != "from" && name != "to") || !instant) {
      problem =
          name + ": an instant such as 2026-11-27T03:12:00Z, or an age such as 15m, as at, from or to is expected";
      return std::nullopt;
    }
    if (name == "at") question.at = instant;
    if (name == "from") question.from = *instant;
    if (name == "to") question.to = *instant;
    has_from = has_from || name == "from";
  }
  if (!has_from) question.from = question.to - usual_span;
  if (question.from <= question.to) return question;
  problem = "from is later than to";
  return std::nullopt;
}

Json span_json(HistoryFile& file, const HistoryQuestion& question) {
  const HistoryFile::Found found = file.find(question.monitor, question.from, question.to, question.most);
  Json stays = Json::array();
  for (const Stay& stay : found.stays) stays.push_back(json_of(stay));
  Json watched = Json::array();
  for (const StayTracker::Watch& watch : found.watched) {
    watched.push_back({{"from", records::format_wall_time(std::max(watch.from, question.from))},
                       {"to", records::format_wall_time(std::min(watch.to, question.to))}});
  }
  return {{"monitor", question.monitor},
          {"from", records::format_wall_time(question.from)},
          {"to", records::format_wall_time(question.to)},
          {"watched", watched},
          {"waits", json_of(plot_waits(file.waits(question.monitor, question.from, question.to, most_plotted),
                                       file.holds(question.monitor, question.from, question.to, most_plotted),
                                       question.from, question.to))},
          {"stays", stays},
          {"more", found.more}};
}

Json moment_json(HistoryFile& file, const HistoryQuestion& question) {
  const WallTime at = *question.at;
  const HistoryFile::Found found = file.find(question.monitor, at, at, most_stays);
  Json holder(nullptr);
  Json waiting = Json::array();
  for (auto stay = found.stays.rbegin(); stay != found.stays.rend(); ++stay) {
    if (!lasts_at(*stay, at)) continue;
    if (stay->kind == Stay::Kind::wait) {
      waiting.push_back(json_with_stack(*stay));
    } else {
      holder = json_with_stack(*stay);  // the latest, where two looks were too far apart to keep them apart
    }
  }
  return {{"monitor", question.monitor},
          {"at", records::format_wall_time(at)},
          {"watched", !found.watched.empty()},
          {"holder", holder},
          {"waiting", waiting}};
}

}  // namespace forelock::cli
