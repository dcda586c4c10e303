#include "cli/serve/letter_answers.h"

#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <vector>

#include "base/shell_word.h"
#include "cli/dlq/letter_lookup.h"
#include "cli/dlq/letters_json.h"
#include "cli/dlq/letters_text.h"
#include "cli/dlq/queue_reading.h"
#include "cli/exit_code.h"
#include "cli/failure.h"
#include "cli/output/json_output.h"
#include "config/quantity.h"
#include "drain/open_store.h"
#include "forelock/error.h"
#include "forward/open_outbox.h"
#include "records/wall_time.h"
#include "web/request_check.h"

namespace forelock::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t most_listed = 1000;
constexpr std::streamoff audit_tail = 1024 * 1024;

web::Response found(const Json& json) {
  return {200, "application/json", json_text(json) + '\n', false};
}

web::Response no_letter() {
  return {
      404, "application/json",
      json_text({{"error",
                  {{"code", "unknown_letter"},
                   {"message", "there is no such dead letter: it was replayed or purged, or is in another queue"}}}}) +
          '\n',
      false};
}

std::size_t limit_in(const std::string& value) {
  const auto most = config::parse_number(value);
  if (!most || *most < 1 || *most > most_listed) throw_usage("limit: a number from 1 to 1000 is expected");
  return static_cast<std::size_t>(*most);
}

std::vector<std::pair<std::string, std::string>> parameters_in(const std::string& query) {
  auto parameters = web::parse_query(query);
  if (!parameters) throw_usage("the query is invalid");
  return *std::move(parameters);
}

class FirstLetters final : public drain::LetterVisitor {
 public:
  explicit FirstLetters(std::size_t most) : most_(most), now_(records::wall_time_now()) {}

  bool letter(const drain::StoredLetter& letter) override { return add(cli::json_of(letter, now_)); }
  bool unreadable(const drain::UnreadableLetter& letter) override { return add(cli::json_of(letter)); }

  Json list = Json::array();
  bool more = false;

 private:
  bool add(Json json) {
    more = list.size() >= most_;
    if (!more) list.push_back(std::move(json));
    return !more;
  }

  const std::size_t most_;
  const WallTime now_;
};

// In the queue; else in this machine's outbox, where it may wait for Kafka.
std::optional<FoundLetter> look_for(const Settings& settings, const LogSink& log, const std::string& id) {
  using drain::StoreKind;
  const auto store = drain::open_store(settings, StoreKind::configured, log, drain::StoreAccess::look);
  auto letter = look_up(*store, id);
  if (letter || !forward::kafka_is_configured(settings)) return letter;
  return look_up(*drain::open_store(settings, StoreKind::outbox, log, drain::StoreAccess::look), id);
}

Json commands_for(const drain::StoredLetter& stored) {
  const std::string id = base::shell_argument(stored.letter.id);
  const bool parked = stored.state == drain::LetterState::parked;
  return {{"show", "forelock dlq show " + id},
          {"replay", "forelock dlq replay --id " + base::shell_quoted(stored.letter.id) + (parked ? " --parked" : "") +
                         " --exec 'COMMAND' --execute"},
          {parked ? "unpark" : "park", std::string("forelock dlq ") + (parked ? "unpark " : "park ") + id}};
}

Json letters_json(const Settings& settings, const LogSink& log, const LettersQuestion& question) {
  QueueReader reader(settings, drain::StoreKind::configured, log);
  Json json = reader.json_of(reader.read(question.filter));
  FirstLetters first(question.most);
  drain::open_store(settings, drain::StoreKind::configured, log, drain::StoreAccess::look)
      ->scan(question.filter, first);
  json["list"] = std::move(first.list);
  json["more"] = first.more;
  return json;
}

}  // namespace

LettersQuestion parse_letters_question(const std::string& query) {
  LettersQuestion question;
  for (const auto& [name, value] : parameters_in(query)) {
    if (name == "limit") {
      question.most = limit_in(value);
    } else if (name == "parked" && value == "1") {
      question.filter.parked = true;
    } else if (name == "reason") {
      question.filter.reasons = {value};
    } else if (name == "type") {
      question.filter.types = {value};
    } else if (name == "monitor") {
      question.filter.monitors = {value};
    } else {
      throw_usage(name + ": reason, type, monitor, parked=1 and limit are expected");
    }
  }
  return question;
}

web::Response letters_answer(const Settings& settings, const LogSink& log, const LettersQuestion& question) {
  try {
    return found(letters_json(settings, log, question));
  } catch (const Error& problem) {
    if (problem.code() != ErrorCode::kafka_unavailable) throw;
    Json json = {
        {"error",
         {{"code", std::string(name_of(problem.code()))}, {"message", problem.what()}, {"hint", problem.hint()}}}};
    json.update(QueueReader::outbox_json(settings, QueueReader::read_outbox(settings, log)));
    return {503, "application/json", json_text(json) + '\n', false};
  }
}

web::Response letter_answer(const Settings& settings, const LogSink& log, const std::string& id) {
  const auto letter = look_for(settings, log, id);
  if (!letter) return no_letter();
  const auto* const stored = std::get_if<drain::StoredLetter>(&*letter);
  if (stored == nullptr) return found(cli::json_of(std::get<drain::UnreadableLetter>(*letter)));
  Json json = Json::parse(stored->record);
  json.erase("payload");
  json["payload_bytes"] = stored->letter.payload.size();
  json["position"] = stored->position;
  json["state"] = std::string(text_of(stored->state));
  json["tries"] = stored->tries;
  json["commands"] = commands_for(*stored);
  return found(json);
}

web::Response payload_answer(const Settings& settings, const LogSink& log, const std::string& id) {
  const auto letter = look_for(settings, log, id);
  const auto* const stored = letter ? std::get_if<drain::StoredLetter>(&*letter) : nullptr;
  return stored == nullptr ? no_letter()
                           : web::Response{200, "application/octet-stream", stored->letter.payload, false};
}

web::Response audit_answer(const std::string& path, const std::string& query) {
  std::size_t most = 100;
  std::optional<std::string> monitor;
  for (const auto& [name, value] : parameters_in(query)) {
    if (name == "limit") {
      most = limit_in(value);
    } else if (name == "monitor") {
      monitor = value;
    } else {
      throw_usage(name + ": monitor and limit are expected");
    }
  }
  Json acts = Json::array();
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file && errno == ENOENT) return found({{"acts", acts}, {"more", false}});  // nothing was done yet
  if (!file) {
    throw FailureException({exit_output,
                            "audit",
                            "cannot read the audit file " + path + ": " + std::generic_category().message(errno),
                            {},
                            {},
                            false,
                            {}});
  }
  const std::streamoff size = file.tellg();
  bool more = size > audit_tail;
  file.seekg(more ? size - audit_tail : 0);
  std::string line;
  if (more) std::getline(file, line);  // the rest of one
  std::vector<Json> wanted;
  while (std::getline(file, line)) {
    Json act = Json::parse(line, nullptr, false);
    if (act.is_object() && (!monitor || act.value("monitor", Json()) == Json(*monitor)))
      wanted.push_back(std::move(act));
  }
  more = more || wanted.size() > most;
  for (auto act = wanted.rbegin(); act != wanted.rend() && acts.size() < most; ++act) acts.push_back(std::move(*act));
  return found({{"acts", acts}, {"more", more}});
}

}  // namespace forelock::cli
