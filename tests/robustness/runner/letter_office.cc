#include "robustness/runner/letter_office.h"

#include <sqlite3.h>

#include <nlohmann/json.hpp>

#include "integration/dead_letters.h"
#include "letter/base64.h"
#include "robustness/history/letter_hash.h"

namespace forelock::robustness {
namespace {

constexpr const char* topic = "robustness";
constexpr std::size_t rows_at_once = 1000;
constexpr std::size_t bytes_at_once = 16 * 1024 * 1024;

void record(HistoryWriter& history, const char* where, const std::string& id, const std::string& text) {
  const auto letter = nlohmann::json::parse(text, nullptr, false);
  if (!letter.is_object() || letter.value("id", "") != id) throw std::runtime_error("no letter: " + text);
  const auto payload = letter::decode_base64(letter.at("payload").at("data").get<std::string>());
  if (!payload) throw std::runtime_error("no payload: " + text);
  history.event("found")
      .add("id", id)
      .add("where", where)
      .add("hash",
           letter_hash(letter.at("type").get<std::string>(), letter.at("monitor").get<std::string>(), *payload));
}

}  // namespace

LetterOffice::LetterOffice(std::filesystem::path outbox) : outbox_(std::move(outbox)) {
  test::make_topic(broker_, topic, 3);
}

std::vector<std::string> LetterOffice::settings() const {
  return {"dlq.outbox.path=" + outbox_.string(), std::string("dlq.topic=") + topic,
          "kafka.bootstrap.servers=" + broker_.bootstrap()};
}

bool LetterOffice::heal(std::chrono::milliseconds patience) {
  if (!broker_.running()) broker_.restart(false);
  return broker_.wait_until_serving(patience);
}

std::size_t LetterOffice::record_letters(HistoryWriter& history) {
  std::size_t count = 0;
  for (const test::TopicRecord& each : test::read_topic(broker_.bootstrap(), topic)) {
    record(history, "topic", each.id(), each.value);
    ++count;
  }
  if (!std::filesystem::exists(outbox_)) return count;
  const outbox::Outbox outbox({.path = outbox_});
  std::int64_t last = 0;
  for (auto rows = outbox.read(last, rows_at_once, bytes_at_once); !rows.empty();
       rows = outbox.read(last, rows_at_once, bytes_at_once)) {
    for (const outbox::Row& row : rows) {
      record(history, "outbox", row.id, row.record);
      last = row.sequence;
      ++count;
    }
  }
  return count;
}

std::shared_ptr<LetterOffice::Occupation> LetterOffice::Occupation::of(const std::filesystem::path& outbox) {
  sqlite3* database = nullptr;
  const bool open = sqlite3_open_v2(outbox.c_str(), &database, SQLITE_OPEN_READWRITE, nullptr) == SQLITE_OK;
  if (open) sqlite3_busy_timeout(database, 1000);
  if (!open || sqlite3_exec(database, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr) != SQLITE_OK) {
    sqlite3_close(database);
    return nullptr;
  }
  return std::shared_ptr<Occupation>(new Occupation(database));
}

LetterOffice::Occupation::~Occupation() {
  auto* database = static_cast<sqlite3*>(database_);
  sqlite3_exec(database, "ROLLBACK", nullptr, nullptr, nullptr);
  sqlite3_close(database);
}

}  // namespace forelock::robustness
