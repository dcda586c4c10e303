#include "kafka_fixture.h"

#include <sys/wait.h>

#include <nlohmann/json.hpp>

#include "support/child_process.h"
#include "support/temporary_directory.h"

namespace forelock::test {

TestBroker& KafkaTest::broker() {
  static TestBroker broker({.config_lines = {"log.cleaner.backoff.ms=100", "log.cleaner.threads=1"}, .listeners = {}});
  return broker;
}

void KafkaTest::SetUp() {
  if (!broker().running()) {
    broker().restart();
  } else {
    broker().resume();
  }
}

Settings KafkaTest::settings(const Values& values) {
  return settings_for(broker().bootstrap(), values);
}

Settings KafkaTest::settings_for(const std::string& bootstrap, const Values& values) {
  Settings settings;
  settings.set("kafka.bootstrap.servers", bootstrap);
  for (const auto& [key, value] : values) settings.set("kafka." + key, value);
  return settings;
}

std::string KafkaTest::make_topic(std::int32_t partitions, const std::map<std::string, std::string>& config) {
  const std::string name = new_topic_name();
  kafka::Admin admin(settings());
  admin.create({name, partitions, 1, config});
  return name;
}

std::string KafkaTest::new_topic_name() {
  static std::atomic<int> count = 0;
  return "topic-" + std::to_string(++count);
}

std::string output_of(std::vector<std::string> command) {
  const TemporaryDirectory directory;
  const std::filesystem::path file = directory.path() / "output";
  const std::string name = command.front();
  ChildProcess process(std::move(command), file);
  const int status = process.wait();
  std::ifstream stream(file);
  std::string output(std::istreambuf_iterator<char>(stream), {});
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) throw std::runtime_error(name + " failed: " + output);
  return output;
}

std::vector<WitnessedRecord> witness(const std::string& bootstrap, const std::string& topic) {
  std::istringstream lines(output_of({"kcat", "-C", "-e", "-q", "-J", "-b", bootstrap, "-t", topic}));
  const auto text_or_null = [](const nlohmann::json& value) {
    return value.is_null() ? std::nullopt : std::optional<std::string>(value.get<std::string>());
  };
  std::vector<WitnessedRecord> records;
  for (std::string line; std::getline(lines, line);) {
    const nlohmann::json json = nlohmann::json::parse(line);
    WitnessedRecord record{
        json["partition"], json["offset"], text_or_null(json["key"]), text_or_null(json["payload"]), {}};
    if (json.contains("headers")) {
      const nlohmann::json& headers = json["headers"];  // name, value, name, value, …
      for (std::size_t index = 0; index + 1 < headers.size(); index += 2) {
        record.headers.emplace_back(headers[index], headers[index + 1]);
      }
    }
    records.push_back(std::move(record));
  }
  return records;
}

}  // namespace forelock::test
