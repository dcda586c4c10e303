#include "cli/serve/board.h"

#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "cli/monitors/views_json.h"
#include "cli/serve/history/history_json.h"
#include "cli/serve/letter_answers.h"
#include "cli/serve/metrics.h"
#include "cli/serve/page_files.h"
#include "config/quantity.h"
#include "records/wall_time.h"
#include "web/request_check.h"

namespace forelock::cli {
namespace {

using Json = nlohmann::ordered_json;
using web::Response;

// Of a stream's snapshot: a browser shows 500 of them, and each of many streams gets it.
constexpr std::size_t most_stream_rows = 2000;
constexpr std::size_t usual_rows = 10'000;
constexpr std::int64_t most_rows = 100'000;
constexpr std::size_t most_made = 16;
constexpr std::size_t longest_made = 1024 * 1024;
// Of the queue of one monitor.
constexpr std::size_t usual_waiters = 1000;
constexpr std::int64_t most_waiters = 10'000;

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Response json_response(const Json& json, unsigned status = 200) {
  return {status, "application/json", text_of(json) + '\n', false};
}

Response error_response(unsigned status, const char* code, const std::string& message) {
  return json_response({{"error", {{"code", code}, {"message", message}}}}, status);
}

Response page_response(std::string_view name) {
  for (const PageFile& file : page_files()) {
    if (file.name == name) return {200, std::string(file.type), std::string(file.content), false};
  }
  return error_response(404, "not_found", "there is nothing at this path");
}

std::optional<Acts::Kind> kind_of_act(const std::vector<std::string>& path, bool has_letters) {
  if (path.size() < 3 || path[0] != "api") return std::nullopt;
  if (path.size() == 4 && path[1] == "monitors" && path[3] == "release") return Acts::Kind::release;
  if (path.size() == 4 && path[1] == "monitors" && path[3] == "prioritize") return Acts::Kind::prioritize;
  if (!has_letters) return std::nullopt;
  if (path.size() == 4 && path[1] == "dead-letters" && path[3] == "unpark") return Acts::Kind::unpark;
  if (path.size() == 3 && path[1] == "outbox" && path[2] == "forward") return Acts::Kind::forward;
  return std::nullopt;
}

// The object with these members besides: text without its outer braces.
std::string with_rows(const Json& head, const std::string& rows) {
  std::string text = text_of(head);
  text.pop_back();
  return text + (head.empty() ? "" : ",") + rows + '}';
}

// Each view is also JSON, for those who say that they want that (Accept).
web::Request as_api(web::Request request) {
  std::vector<std::string>& path = request.path;
  if (!request.wants_json) return request;
  if (path.empty()) path = {"monitors"};
  if (path[0] == "monitors" || path[0] == "dead-letters" || path[0] == "audit") path.insert(path.begin(), "api");
  return request;
}

}  // namespace

bool Board::live() const {
  return picture_ && problem_.empty() && std::chrono::steady_clock::now() - picture_->begun() <= picture_->fresh_for();
}

void Board::take(std::shared_ptr<const Picture> picture, const std::vector<web::Event>& events) {
  const bool first = !picture_;
  picture_ = std::move(picture);
  made_.clear();
  problem_.clear();
  if (first) {
    server_->publish(snapshot());  // streams that began before it have nothing to build on
  } else {
    for (const web::Event& event : events) server_->publish(event);
  }
  tell_status();
}

void Board::fail(std::string problem) {
  problem_ = std::move(problem);
  tell_status();
}

void Board::tell_unlocked(const std::string& monitor, const HolderView& holder, const std::string& reason) {
  Json holder_json = json_of(holder);
  holder_json.erase("session");
  server_->publish({"unlocked", text_of({{"at", records::format_wall_time(records::wall_time_now())},
                                         {"monitor", monitor},
                                         {"holder", holder_json},
                                         {"reason", reason}})});
}

void Board::tell_history_problem(std::string problem) {
  history_problem_ = std::move(problem);
  tell_status();
}

void Board::tick() {
  if (letter_count_) letter_count_->tick();
  tell_status();
}

// Only what changes, and not the age, which goes on.
void Board::tell_status() {
  std::string now = (live() ? "live" : "old: " + problem_) + " history: " + history_problem_;
  if (picture_) {
    const LookState& look = picture_->look();
    now += " sampled: " + std::to_string(look.sampled) + " stale:";
    for (const StaleRow& row : look.stale) now += ' ' + row.monitor;
  }
  if (std::exchange(told_, now) != now) server_->publish({"status", text_of(dated({}))});
}

Json Board::dated(Json json) const {
  Json result = {{"live", live()}, {"age_ms", nullptr}, {"sampled_at", nullptr}, {"problem", nullptr}};
  if (picture_) {
    const auto age = std::chrono::steady_clock::now() - picture_->begun();
    result["age_ms"] = std::chrono::duration_cast<std::chrono::milliseconds>(age).count();
    result["sampled_at"] = records::format_wall_time(picture_->wall());
    result["look"] = picture_->look_json();
  }
  if (!problem_.empty()) result["problem"] = problem_;
  if (history_ != nullptr)
    result["history_problem"] = history_problem_.empty() ? Json(nullptr) : Json(history_problem_);
  if (!json.is_null()) result.update(json);
  return result;
}

Json Board::answered(Json json) const {
  json["event"] = server_->last_event();
  return dated(std::move(json));
}

web::Event Board::snapshot() {
  if (!picture_) return {"snapshot", text_of(dated({{"monitors", Json::array()}, {"left_out", 0}}))};
  return {"snapshot", with_rows(dated({}), picture_->rows_text(most_stream_rows))};
}

void Board::read_through(BackRoom& back_room, std::optional<Acts::Letters> letters, std::string audit_file) {
  back_room_ = &back_room;
  letters_ = std::move(letters);
  if (letters_) {
    letter_count_.emplace(back_room, letters_->settings, letters_->log,
                          [this](std::function<void()> work) { server_->post(std::move(work)); });
  }
  audit_file_ = std::move(audit_file);
}

std::function<Response()> Board::search_for(const web::Request& request) const {
  const std::vector<std::string>& path = request.path;
  if (path.size() < 2 || path[0] != "api") return {};
  if (path[1] == "audit" && path.size() == 2 && !audit_file_.empty() && !request.admin.empty())
    return [file = audit_file_, query = request.query] { return audit_answer(file, query); };
  if (path[1] != "dead-letters" || !letters_) return {};
  if (path.size() == 2) {
    return [letters = *letters_, query = request.query] {
      return letters_answer(letters.settings, letters.log, parse_letters_question(query));
    };
  }
  if (path.size() == 3)
    return [letters = *letters_, id = path[2]] { return letter_answer(letters.settings, letters.log, id); };
  if (path.size() == 4 && path[3] == "payload" && !request.admin.empty())
    return [letters = *letters_, id = path[2]] { return payload_answer(letters.settings, letters.log, id); };
  return {};
}

bool Board::answer_later(const web::Request& asked, const std::function<void(Response)>& answer) {
  const web::Request request = as_api(asked);
  const std::vector<std::string>& path = request.path;
  if (auto find = search_for(request)) {
    const bool taken = back_room_->ask(std::move(find), [this, answer](Response response) {
      server_->post([answer, response = std::move(response)] { answer(response); });
    });
    if (!taken) answer(error_response(503, "overloaded", "too many questions are being answered"));
    return true;
  }
  if (history_ == nullptr || path.size() != 3 || path[0] != "api" || path[1] != "history") return false;
  std::string problem;
  auto question = parse_question(path[2], request.query, records::wall_time_now(), problem);
  if (!question) {
    answer(error_response(400, "invalid_argument", problem));
    return true;
  }
  const bool taken = history_->ask(*std::move(question), [this, answer](Response response) {
    server_->post([answer, response = std::move(response)] { answer(response); });
  });
  if (!taken) answer(error_response(503, "overloaded", "too many questions are being answered"));
  return true;
}

Response Board::answer(const web::Request& asked) {
  const web::Request request = as_api(asked);
  const std::vector<std::string>& path = request.path;
  const bool is_page = path.empty() || (path.size() == 2 && path[0] == "monitors") || path[0] == "dead-letters" ||
                       (path.size() == 1 && path[0] == "audit");
  if (is_page && path.size() <= 2) return page_response("index.html");
  if (path.size() == 2 && path[0] == "page") return page_response(path[1]);
  if (path.size() == 3 && path[0] == "api" && path[1] == "monitors")
    return monitor(path[2], request.query, !request.admin.empty());
  if (path.size() == 3 && path[0] == "api" && path[1] == "history")
    return error_response(404, "no_history", "there is no history: forelock serve --history FILE keeps one");
  if (path.size() >= 2 && path[0] == "api" && (path[1] == "dead-letters" || path[1] == "audit")) return not_read(path);
  if (path.size() == 2 && path[0] == "api") {
    if (path[1] == "monitors") return monitors(request.query);
    if (path[1] == "chains") return chains();
    if (path[1] == "orders") return orders();
    if (path[1] == "admin") return admin(request);
    if (path[1] == "events") return {200, {}, {}, true};
  }
  if (path.size() == 1) {
    if (path[0] == "metrics") return metrics();
    if (path[0] == "livez") return {200, "text/plain; charset=utf-8", "ok\n", false};
    if (path[0] == "readyz") return ready();
  }
  return error_response(404, "not_found", "there is nothing at this path");
}

Response Board::not_read(const std::vector<std::string>& path) const {
  if (path[1] == "audit" && path.size() == 2) {
    return audit_file_.empty()
               ? error_response(404, "no_audit", "there is no audit file: --audit-file FILE names one")
               : error_response(401, "not_authorized", "the audit file is shown to admins, by their token (--admin)");
  }
  if (path[1] == "dead-letters" && !letters_)
    return error_response(404, "no_letters", "dead letters are not shown: forelock serve --dead-letters does");
  if (path[1] == "dead-letters" && path.size() == 4 && path[3] == "payload")
    return error_response(401, "not_authorized", "payloads are shown to admins, by their token (--admin)");
  return error_response(404, "not_found", "there is nothing at this path");
}

Response Board::of_picture(const std::string& key, const std::function<Json()>& make) const {
  auto made = made_.find(key);
  if (made == made_.end()) {
    const Json json = make();
    if (json.contains("live")) return json_response(answered(json));  // it is old by itself
    const std::string text = text_of(json);
    if (text.size() > longest_made) return json_response(answered(json));
    if (made_.size() == most_made) made_.clear();
    made = made_.emplace(key, text.substr(1, text.size() - 2)).first;
  }
  return {200, "application/json", with_rows(answered(Json::object()), made->second) + '\n', false};
}

// All rows as `ls` has them, up to a limit.
Response Board::monitors(const std::string& query) const {
  if (!picture_) return error_response(503, "no_picture", problem_);
  std::size_t most = usual_rows;
  std::vector<std::string> words;
  const auto parameters = web::parse_query(query);
  if (!parameters) return error_response(400, "invalid_argument", "the query is invalid");
  for (const auto& [name, value] : *parameters) {
    if (name == "q") {
      std::istringstream text(value);
      for (std::string word; text >> word;) words.push_back(word);
      continue;
    }
    const auto number = name == "limit" ? config::parse_number(value) : std::nullopt;
    if (!number || *number < 1 || *number > most_rows)
      return error_response(400, "invalid_argument", "limit=1 to 100000, or q=WORDS is expected");
    most = static_cast<std::size_t>(*number);
  }
  const Json head = answered({{"not_permitted", picture_->unreadable().size()}});
  return {200, "application/json", with_rows(head, picture_->rows_text(most, words)) + '\n', false};
}

void Board::act(const web::Request& request, std::function<void(Response)> answer) {
  const std::vector<std::string>& path = request.path;
  const std::optional<Acts::Kind> kind = kind_of_act(path, acts_->has_letters());
  if (!kind) return answer(error_response(404, "not_found", "there is no such act"));
  const bool taken = acts_->ask({*kind, path[2], request.body, request.admin}, [this, answer](Response response) {
    server_->post([answer, response = std::move(response)] { answer(response); });
  });
  if (!taken) answer(error_response(503, "overloaded", "too many acts are under way"));
}

Response Board::admin(const web::Request& request) const {
  Json json = {{"acts", acts_ != nullptr}, {"who", nullptr}};
  if (!request.admin.empty()) {
    json["who"] = request.admin;
    json["csrf"] = request.csrf;
  }
  return json_response(json);
}

// As `show` has it, with so many of those that wait: thousands of records, with their stacks, take this thread seconds.
Response Board::monitor(const std::string& id, const std::string& query, bool with_sessions) const {
  if (!picture_) return error_response(503, "no_picture", problem_);
  std::size_t most = usual_waiters;
  const auto parameters = web::parse_query(query);
  if (!parameters) return error_response(400, "invalid_argument", "the query is invalid");
  for (const auto& [name, value] : *parameters) {
    if (name != "limit") continue;  // the page has others
    const auto number = config::parse_number(value);
    if (!number || *number < 1 || *number > most_waiters)
      return error_response(400, "invalid_argument", "limit=1 to 10000 is expected");
    most = static_cast<std::size_t>(*number);
  }
  if (const std::string* const why = picture_->why_unreadable(id))
    return error_response(403, "not_authorized", "it cannot be read: " + *why);
  const Sighting* const view = picture_->find(id);
  if (view == nullptr) return error_response(404, "unknown_monitor", "there is no such monitor");
  return of_picture(id + '\n' + std::to_string(most) + (with_sessions ? "s" : ""),
                    [&] { return picture_->view(*view, with_sessions, most); });
}

Response Board::chains() const {
  if (!picture_) return error_response(503, "no_picture", problem_);
  return of_picture("chains", [this] { return picture_->chains(); });
}

Response Board::orders() const {
  if (!picture_) return error_response(503, "no_picture", problem_);
  return of_picture("orders", [this] { return picture_->orders(); });
}

Response Board::ready() const {
  if (live()) return {200, "text/plain; charset=utf-8", "ok\n", false};
  return {503, "text/plain; charset=utf-8", "not ready: " + (problem_.empty() ? "the picture is old" : problem_) + '\n',
          false};
}

Response Board::metrics() const {
  return {200, "text/plain; version=0.0.4; charset=utf-8",
          metrics_text({live() ? picture_.get() : nullptr, client_.connected(), client_.statistics().sessions_expired,
                        server_->connections(), server_->streams(), look_counts_, unlocker_, history_, acts_,
                        letter_count_ ? &*letter_count_ : nullptr}),
          false};
}

}  // namespace forelock::cli
