#include "kafka/client_config.h"

#include <array>
#include <string_view>

#include "config/problems.h"
#include "kafka/known_keys.h"
#include "kafka/name_service.h"
#include "letter/letter_json.h"

namespace forelock::kafka {
namespace {

using Values = std::vector<std::pair<std::string, std::string>>;

// A record is a letter with key and headers; the headers repeat little of it.
constexpr std::size_t longest_record = letter::max_letter_bytes + 1024 * 1024;

// Bounds on time and memory, which users may move.
Values defaults(Role role) {
  Values values = {{"client.id", "forelock"},
                   {"socket.keepalive.enable", "true"},
                   {"socket.timeout.ms", "10000"},
                   {"socket.connection.setup.timeout.ms", "10000"},
                   {"reconnect.backoff.max.ms", "2000"},
                   {"topic.metadata.refresh.interval.ms", "60000"},
                   {"log.thread.name", "false"},
                   {"log.queue", "true"},
                   {"message.max.bytes", std::to_string(longest_record)}};
  const Values producer = {{"message.timeout.ms", "30000"},
                           {"queue.buffering.max.kbytes", "65536"},
                           {"topic.metadata.propagation.max.ms", "5000"}};
  const Values consumer = {{"fetch.wait.max.ms", "50"},
                           {"fetch.error.backoff.ms", "100"},
                           {"queued.max.messages.kbytes", "32768"},
                           {"check.crcs", "true"}};
  const Values& more = role == Role::producer ? producer : consumer;
  values.insert(values.end(), more.begin(), more.end());
  return values;
}

// What the promises of this library rest on; user_settings() refuses settings that contradict it.
Values decisions(Role role) {
  if (role == Role::producer) {
    // A topic that the broker makes by itself has the broker's settings, and letters expire in it.
    // A broker that does not know a producer yet takes any of its requests for the first one: of several under way it
    // may refuse the first while the partition is being made, and take the second. What the first brought is lost then,
    // or follows at the end (KAFKA-15591).
    return {{"enable.idempotence", "true"},
            {"message.send.max.retries", "2147483647"},
            {"max.in.flight.requests.per.connection", "1"},
            {"request.required.acks", "all"},
            {"partitioner", "murmur2_random"},
            {"allow.auto.create.topics", "false"}};
  }
  return {{"enable.auto.commit", "false"},       {"enable.auto.offset.store", "false"},
          {"auto.offset.reset", "earliest"},     {"enable.partition.eof", "true"},
          {"isolation.level", "read_committed"}, {"allow.auto.create.topics", "false"}};
}

struct Refusal {
  rd_kafka_conf_res_t result = RD_KAFKA_CONF_OK;
  std::string reason;
};

Refusal set(rd_kafka_conf_t* conf, const std::string& key, const std::string& value) {
  std::array<char, 512> reason{};
  const auto result = rd_kafka_conf_set(conf, key.c_str(), value.c_str(), reason.data(), reason.size());
  return {result, reason.data()};
}

void set_all(rd_kafka_conf_t* conf, const Values& values) {
  for (const auto& [key, value] : values) {
    const Refusal refusal = set(conf, key, value);
    if (refusal.result != RD_KAFKA_CONF_OK) throw ConfigurationException({{"", 0, key, refusal.reason, ""}});
  }
}

config::Fault fault_of(const Refusal& refusal, const UserSetting& setting) {
  if (refusal.result == RD_KAFKA_CONF_UNKNOWN) {
    const std::string_view nearest = KnownKeys::get().nearest(setting.key);
    return {"librdkafka knows no such setting", nearest.empty()
                                                    ? "see its documentation, CONFIGURATION.md"
                                                    : "the nearest known key is kafka." + std::string(nearest)};
  }
  if (setting.secret) return {"librdkafka refuses the value", "see its documentation, CONFIGURATION.md"};
  return {"librdkafka refuses it: " + refusal.reason, ""};
}

// The user's setting that the library's message is about, as far as one can tell.
const UserSetting* setting_in(const std::string& message, const std::vector<UserSetting>& settings) {
  const UserSetting* found = nullptr;
  for (const UserSetting& setting : settings) {
    const bool longer = found == nullptr || setting.key.size() > found->key.size();
    if (longer && message.find(setting.key) != std::string::npos) found = &setting;
  }
  return found;
}

}  // namespace

ClientConfig::ClientConfig(const Settings& settings, Role role, const Values& own)
    : role_(role), conf_(rd_kafka_conf_new()) {
  config::Problems problems;
  user_ = user_settings(settings, problems);
  for (const UserSetting& setting : user_) {
    if (setting.secret) mask_.add(setting.value);
    if (setting.key == "bootstrap.servers") bootstrap_servers_ = setting.value;
  }
  if (bootstrap_servers_.empty()) {
    problems.add({"", 0, "kafka.bootstrap.servers", "is not set", "name the brokers: host:port, separated by commas"});
  }
  set_all(conf_.get(), defaults(role));
  set_all(conf_.get(), decisions(role));
  // A setting of the other role is checked as well, but the library would only warn of it.
  const ConfHandle of_no_use(rd_kafka_conf_new());
  for (const UserSetting& setting : user_) {
    rd_kafka_conf_t* const target = KnownKeys::get().concerns(setting.key, role) ? conf_.get() : of_no_use.get();
    const Refusal refusal = set(target, setting.key, setting.value);
    if (refusal.result == RD_KAFKA_CONF_OK) continue;
    config::Fault fault = fault_of(refusal, setting);
    problems.add(setting.place.problem(mask_.applied_to(fault.message), std::move(fault.hint)));
  }
  problems.throw_if_any();
  set_all(conf_.get(), own);
  rd_kafka_conf_set_resolve_cb(conf_.get(), &resolve_broker);
}

ClientHandle ClientConfig::make(ConfHandle conf) const {
  std::array<char, 512> reason{};
  const rd_kafka_type_t type = role_ == Role::producer ? RD_KAFKA_PRODUCER : RD_KAFKA_CONSUMER;
  ClientHandle client(rd_kafka_new(type, conf.get(), reason.data(), reason.size()));
  if (client == nullptr) {
    const std::string message = "librdkafka refuses the settings: " + mask_.applied_to(reason.data());
    const UserSetting* const setting = setting_in(reason.data(), user_);
    throw ConfigurationException({setting != nullptr
                                      ? setting->place.problem(message, "")
                                      : ConfigurationProblem{"", 0, "kafka", message, "check the keys under kafka."}});
  }
  static_cast<void>(conf.release());              // the client's now
  rd_kafka_set_log_queue(client.get(), nullptr);  // the main queue, which rd_kafka_poll() serves
  return client;
}

void check_settings(const Settings& settings) {
  if (settings.kafka().empty()) return;
  Settings complete = settings;
  // Without servers the outbox is the queue, and that is right.
  if (!settings.kafka().contains("bootstrap.servers")) complete.set("kafka.bootstrap.servers", "localhost:9092");
  for (const Role role : {Role::producer, Role::consumer}) {
    const ClientConfig config(complete, role);
    config.make(config.conf());
  }
}

bool is_known_setting(std::string_view key) {
  constexpr std::string_view prefix = "kafka.";
  constexpr std::string_view file_suffix = ".file";
  if (key.starts_with(prefix)) key.remove_prefix(prefix.size());
  if (key.ends_with(file_suffix)) key.remove_suffix(file_suffix.size());
  return KnownKeys::get().knows(key);
}

}  // namespace forelock::kafka
