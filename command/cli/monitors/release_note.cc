#include "cli/monitors/release_note.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "cli/connection.h"
#include "cli/output/quantity_text.h"
#include "client/client_core.h"
#include "client/reply_error.h"
#include "client/request_pipeline.h"
#include "lock/limits.h"
#include "lock/monitor_name.h"
#include "records/wall_time.h"

namespace forelock::cli {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr std::size_t longest_reason = 1000;
constexpr const char* member = "forcedRelease";
constexpr const char* maker = "madeBy";  // the monitor's mark, which the note takes the place of

std::string name_of(const std::string& monitor) {
  return lock::encode_monitor_name(monitor).name.value_or("");
}

std::string path_of(const std::string& monitor) {
  return '/' + name_of(monitor);
}

coordination::Reply ask(Client& client, const std::string& monitor, coordination::Request request) {
  client::RequestPipeline requests(client.core()->ensemble(), Clock::now() + patience(client.settings()));
  coordination::Reply reply = requests.ask(std::move(request));
  // No monitor: nothing will be released.
  if (reply.ok() || reply.code == coordination::ReplyCode::no_node) return reply;
  client::throw_reply_error(reply.code, monitor, "cannot leave a note of the release");
}

std::optional<ReleaseNote> parse(const std::string& data) {
  const Json json = Json::parse(data, nullptr, false);
  if (!json.is_object() || !json.contains(member) || !json[member].is_object()) return std::nullopt;
  const auto text = [&note = json[member]](const char* name) {
    return note.contains(name) && note[name].is_string() ? note[name].get<std::string>() : std::string();
  };
  const std::optional<WallTime> at = records::parse_wall_time(text("at"));
  if (!at) return std::nullopt;
  const std::string token = text("token");
  ReleaseNote found{*at, text("by"), text("reason"), text("holder")};
  std::from_chars(token.data(), token.data() + token.size(), found.token);
  return found;
}

}  // namespace

bool made_by_forelock(const std::string& data) {
  if (data == lock::monitor_mark) return true;
  const Json json = Json::parse(data, nullptr, false);
  return json.is_object() && json.contains(maker) && json[maker] == lock::monitor_mark;
}

std::optional<std::string> data_of_monitor(Client& client, const std::string& monitor) {
  coordination::Reply node = ask(client, monitor, coordination::Get{path_of(monitor)});
  return node.ok() ? std::optional(std::move(node.data)) : std::nullopt;
}

void leave_release_note(Client& client, const std::string& monitor, const std::string& before,
                        const ReleaseNote& note) {
  if (!before.empty() && !made_by_forelock(before) && !parse(before)) return;
  ReleaseNote shortened = note;
  shortened.reason.resize(std::min(longest_reason, note.reason.size()));
  Json json = {{member, json_of(shortened)}};
  if (made_by_forelock(before)) json[maker] = lock::monitor_mark;
  ask(client, monitor,
      coordination::SetData{path_of(monitor), json.dump(-1, ' ', false, Json::error_handler_t::replace)});
}

void withdraw_release_note(Client& client, const std::string& monitor, const std::string& before) noexcept {
  try {
    ask(client, monitor, coordination::SetData{path_of(monitor), before});
  } catch (const std::exception&) {
    return;
  }
}

std::optional<ReleaseNote> read_release_note(Client& client, const std::string& monitor,
                                             std::chrono::milliseconds within) noexcept {
  try {
    client::RequestPipeline requests(client.core()->ensemble(), Clock::now() + within);
    const coordination::Reply reply = requests.ask(coordination::Get{path_of(monitor)});
    return reply.ok() ? parse(reply.data) : std::nullopt;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

Json json_of(const ReleaseNote& note) {
  return {{"at", records::format_wall_time(note.at)},
          {"by", note.by},
          {"reason", note.reason},
          {"holder", note.holder},
          {"token", std::to_string(note.token)}};
}

std::string text_of(const ReleaseNote& note) {
  const auto ago = std::max(std::chrono::milliseconds(0), records::wall_time_now() - note.at);
  return "released by force " + duration_text(ago) + " ago by " + note.by + ": " + note.reason;
}

}  // namespace forelock::cli
