#include "integration/dead_letters.h"

#include <nlohmann/json.hpp>

#include "kafka/admin.h"
#include "support/child_process.h"
#include "support/temporary_directory.h"

namespace forelock::test {

DeadLetter example_letter(const std::string& id, const std::string& monitor, std::size_t payload_bytes) {
  const WallTime begin{std::chrono::milliseconds(1'763'733'600'000)};
  DeadLetter letter;
  letter.id = id;
  letter.type = "saveContent";
  letter.monitor = monitor;
  letter.lock_info = "Save Content";
  letter.payload = std::string(payload_bytes, 'x');
  letter.reason = "lock_timeout";
  letter.attempts = {
      {1, begin + std::chrono::seconds(2), "lock_timeout", "not obtained in 2000 ms", std::chrono::milliseconds(2000)},
      {2, begin + std::chrono::seconds(5), "lock_timeout", "not obtained in 2000 ms", std::chrono::milliseconds(2000)}};
  letter.max_attempts = 2;
  letter.enqueued_at = begin;
  letter.failed_at = begin + std::chrono::seconds(5);
  letter.client = {"search-1", 4711, "search-1/4711", "0.1.0"};
  return letter;
}

std::vector<DeadLetter> example_letters(int count, int monitors) {
  std::vector<DeadLetter> letters;
  for (int i = 0; i < count; ++i) {
    letters.push_back(example_letter("id-" + std::to_string(i), "P" + std::to_string(i % monitors)));
  }
  return letters;
}

Settings queue_settings(const std::filesystem::path& outbox, const std::string& bootstrap, const std::string& topic,
                        std::initializer_list<std::pair<std::string, std::string>> more) {
  Settings settings;
  settings.set({{"dlq.outbox.path", outbox.string()}, {"dlq.topic", topic}});
  if (!bootstrap.empty()) settings.set("kafka.bootstrap.servers", bootstrap);
  for (const auto& [key, value] : more) settings.set(key, value);
  return settings;
}

void make_topic(const TestBroker& broker, const std::string& topic, int partitions,
                std::map<std::string, std::string> config) {
  kafka::Admin admin(queue_settings("/nowhere", broker.bootstrap()));
  admin.create({.name = topic, .partitions = partitions, .config = std::move(config)});
}

std::string TopicRecord::header(const std::string& name) const {
  for (const auto& header : headers) {
    if (header.first == name) return header.second;
  }
  return {};
}

std::vector<TopicRecord> read_topic(const std::string& bootstrap, const std::string& topic, std::int64_t offset) {
  const TemporaryDirectory directory;
  const auto output = directory.path() / "records";
  ChildProcess kcat({"kcat", "-C", "-J", "-e", "-q", "-b", bootstrap, "-t", topic, "-o", std::to_string(offset), "-X",
                     "reconnect.backoff.ms=10", "-X", "fetch.wait.max.ms=10"},
                    output);
  const int status = kcat.wait();
  std::ifstream file(output);
  std::vector<TopicRecord> records;
  std::string complaints;
  for (std::string line; std::getline(file, line);) {
    const auto json = nlohmann::json::parse(line, nullptr, false);
    if (!json.is_object()) {
      complaints += line + "\n";
      continue;
    }
    TopicRecord& record = records.emplace_back();
    record.partition = json["partition"];
    record.offset = json["offset"];
    if (json["key"].is_string()) record.key = json["key"];
    if (json["payload"].is_string()) record.value = json["payload"];
    if (!json.contains("headers")) continue;
    const auto& headers = json["headers"];
    for (std::size_t i = 0; i + 1 < headers.size(); i += 2) record.headers.emplace_back(headers[i], headers[i + 1]);
  }
  if (status != 0) throw std::runtime_error("kcat cannot read " + topic + ": " + complaints);
  return records;
}

std::vector<std::string> ids_in(const outbox::Outbox& outbox) {
  std::vector<std::string> ids;
  std::int64_t after = 0;
  for (;;) {
    const auto rows = outbox.read(after, 1000, 16 * 1024 * 1024);
    if (rows.empty()) return ids;
    for (const outbox::Row& row : rows) ids.push_back(row.id);
    after = rows.back().sequence;
  }
}

std::vector<std::string> ids_in(const std::filesystem::path& outbox) {
  return ids_in(outbox::Outbox({.path = outbox}));
}

std::vector<std::string> ids_of(const std::vector<TopicRecord>& records) {
  std::vector<std::string> ids;
  for (const TopicRecord& record : records) ids.push_back(record.id());
  return ids;
}

}  // namespace forelock::test
