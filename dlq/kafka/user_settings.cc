#include "kafka/user_settings.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <variant>

#include "config/printable.h"
#include "config/private_file.h"
#include "kafka/known_keys.h"

namespace forelock::kafka {
namespace {

constexpr std::string_view prefix = "kafka.";
constexpr std::string_view file_suffix = ".file";
constexpr std::size_t longest_secret = 64 * 1024;

// Settings on which this library's promises rest. `value` is what it sets; empty: no value of the user's will do.
struct Decided {
  std::string_view key;  // canonical
  std::string_view value;
  std::string_view other_name;  // of the same value
  std::string_view reason;
};

constexpr Decided decided[] = {
    {"request.required.acks", "all", "-1", "a dead letter counts as delivered when every replica in sync has it"},
    {"enable.idempotence", "true", "", "without it, retries change the order of a monitor's letters"},
    {"message.send.max.retries", "2147483647", "", "letters that follow would overtake one that is given up"},
    {"max.in.flight.requests.per.connection", "1", "", "brokers can lose what is sent behind a first request"},
    {"partitioner", "murmur2_random", "", "letters of a monitor must be where Java clients look for them"},
    {"delivery.report.only.error", "false", "", "a letter leaves the outbox when its delivery is confirmed"},
    {"transactional.id", "", "", "letters are not sent in transactions"},
    {"group.id", "", "", "it is always forelock-drain, so that all drain tools of a topic share their progress"},
    {"group.instance.id", "", "", "reading needs no membership in a group"},
    {"auto.commit.enable", "false", "", "only letters that are resolved may be committed"},
    {"enable.auto.commit", "false", "", "only letters that are resolved may be committed"},
    {"enable.auto.offset.store", "false", "", "only letters that are resolved may be committed"},
    {"auto.offset.reset", "earliest", "", "no letter may be skipped"},
    {"enable.partition.eof", "true", "", "the end of the queue must be noticed"},
    {"isolation.level", "read_committed", "", "records of aborted transactions are not in the queue"},
    {"allow.auto.create.topics", "false", "", "looking whether a topic exists must not make it"},
    {"enabled_events", "", "", "events go to callbacks"},
    {"log.queue", "true", "", "the log is written by threads of ours alone"},
    {"metadata.broker.list", "", "", "the brokers are named by kafka.bootstrap.servers"},
};

// Settings of Java's clients that librdkafka does not have, or refuses, and what to do instead.
constexpr std::pair<std::string_view, std::string_view> java_only[] = {
    {"sasl.jaas.config", "write kafka.sasl.username and kafka.sasl.password.file"},
    {"ssl.truststore.location", "write kafka.ssl.ca.location, a file of PEM certificates"},
    {"ssl.truststore.password", "write kafka.ssl.ca.location, a file of PEM certificates"},
    {"ssl.truststore.type", "write kafka.ssl.ca.location, a file of PEM certificates"},
    {"ssl.keystore.type", "remove it: kafka.ssl.keystore.location names a PKCS#12 file"},
    {"client.dns.lookup", "remove it: all addresses of a name are used"},
    {"key.serializer", "remove it: letters have one form"},
    {"value.serializer", "remove it: letters have one form"},
    {"key.deserializer", "remove it: letters have one form"},
    {"value.deserializer", "remove it: letters have one form"},
    {"buffer.memory", "write kafka.queue.buffering.max.kbytes"},
    {"max.block.ms", "remove it: sending does not block"},
    {"max.poll.records", "remove it: letters are read one by one"},
    {"interceptor.classes", "remove it: Java's classes are not loaded"},
};

std::optional<config::Fault> java_fault(std::string_view key) {
  const auto found =
      std::find_if(std::begin(java_only), std::end(java_only), [key](const auto& entry) { return entry.first == key; });
  if (found == std::end(java_only)) return std::nullopt;
  return config::Fault{"is a setting of Java's clients, which librdkafka does not take", std::string(found->second)};
}

const Decided* find_decided(std::string_view key) {
  if (key == "bootstrap.servers") return nullptr;  // "metadata.broker.list" in the library's table
  const std::string_view canonical = KnownKeys::get().canonical(key);
  const auto found = std::find_if(std::begin(decided), std::end(decided),
                                  [canonical](const Decided& entry) { return entry.key == canonical; });
  return found == std::end(decided) ? nullptr : &*found;
}

bool permits(const Decided& entry, std::string_view value) {
  return !value.empty() && !entry.value.empty() && (value == entry.value || value == entry.other_name);
}

std::optional<config::Fault> decision_fault(std::string_view key, std::string_view value) {
  if (const Decided* const entry = find_decided(key); entry != nullptr && !permits(*entry, value)) {
    const std::string needed = entry->value.empty() ? "" : " (" + std::string(entry->value) + ")";
    return config::Fault{"is decided by Forelock" + needed + ": " + std::string(entry->reason), "remove it"};
  }
  if (KnownKeys::get().canonical(key) == "message.timeout.ms" && value == "0") {
    return config::Fault{"would wait for ever", "write the milliseconds after which a delivery has failed"};
  }
  return std::nullopt;
}

// The key of which `key` names the value's file, where it is such a key.
std::optional<std::string> named_by_file(std::string_view key) {
  if (!key.ends_with(file_suffix)) return std::nullopt;
  key.remove_suffix(file_suffix.size());
  if (!is_confidential(key)) return std::nullopt;
  return std::string(key);
}

std::optional<config::Fault> inline_fault(const std::string& key, const Place& place) {
  const std::string instead = "write " + std::string(prefix) + key + std::string(file_suffix) +
                              "=PATH, the name of a file with mode 0600 that has it on one line";
  if (place.line == 0) {
    if (!place.file.starts_with('-')) return std::nullopt;  // the host program has it from a place of its own
    return config::Fault{"is a secret: a command line can be seen by others", instead};
  }
  std::optional<config::Fault> fault = config::private_file_fault(place.file);
  if (fault) return config::Fault{"is a secret, and " + fault->message, instead};
  return std::nullopt;
}

std::optional<config::Fault> blank_fault(const std::string& secret) {
  if (!secret.starts_with(' ')) return std::nullopt;
  return config::Fault{"is a secret that begins with a blank, which librdkafka cuts off", "choose another secret"};
}

// librdkafka reads these by itself, and whoever else may.
std::optional<config::Fault> key_file_fault(const std::string& key, const std::string& path) {
  if ((key != "ssl.key.location" && key != "ssl.keystore.location") || path.empty()) return std::nullopt;
  std::optional<config::Fault> fault = config::private_file_fault(path);
  if (fault) fault->message = "names a private key, and " + fault->message;
  return fault;
}

std::variant<std::string, config::Fault> read_secret(const std::string& path) {
  std::variant<std::string, config::Fault> text =
      config::read_private_file(path, longest_secret, "the secret on one line");
  const std::string* const secret = std::get_if<std::string>(&text);
  if (secret == nullptr) return text;
  const bool one_line = std::none_of(secret->begin(), secret->end(),
                                     [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
  if (secret->empty() || secret->size() > longest_secret || !one_line) {
    return config::Fault{config::in_quotes(path) + " does not contain one line with the secret",
                         "write exactly that one line"};
  }
  if (std::optional<config::Fault> fault = blank_fault(*secret)) return *std::move(fault);
  return text;
}

}  // namespace

void Mask::add(std::string secret) {
  if (secret.empty()) return;
  secrets_.push_back(std::move(secret));
  std::stable_sort(secrets_.begin(), secrets_.end(),
                   [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
}

std::string Mask::applied_to(std::string_view text) const {
  std::string masked;
  while (!text.empty()) {
    const auto secret = std::find_if(secrets_.begin(), secrets_.end(),
                                     [text](const std::string& value) { return text.starts_with(value); });
    if (secret == secrets_.end()) {
      masked += text.front();
      text.remove_prefix(1);
    } else {
      masked += config::mask;
      text.remove_prefix(secret->size());
    }
  }
  return masked;
}

ConfigurationProblem Place::problem(std::string message, std::string hint) const {
  return {file, line, config::printable(key), std::move(message), std::move(hint)};
}

Place place_of(const Settings::Entry& entry) {
  Place place{entry.key, entry.origin, 0};
  const std::size_t colon = entry.origin.rfind(':');
  if (colon == std::string::npos) return place;
  const char* const begin = entry.origin.data() + colon + 1;
  const char* const end = entry.origin.data() + entry.origin.size();
  int line = 0;
  const auto [behind, error] = std::from_chars(begin, end, line);
  if (error != std::errc() || behind != end || line <= 0) return place;
  place.file.resize(colon);
  place.line = line;
  return place;
}

bool is_confidential(std::string_view key) {
  return config::is_secret(key) && key != "sasl.oauthbearer.token.endpoint.url" &&
         key != "enable.sasl.oauthbearer.unsecure.jwt";
}

std::vector<UserSetting> user_settings(const Settings& settings, config::Problems& problems) {
  std::map<std::string, Place, std::less<>> places;
  for (const Settings::Entry& entry : settings.entries()) {
    if (entry.key.starts_with(prefix)) places[entry.key.substr(prefix.size())] = place_of(entry);
  }
  std::vector<UserSetting> result;
  for (const auto& [key, value] : settings.kafka()) {
    const Place& place = places[key];
    const auto refuse = [&](config::Fault fault) {
      problems.add(place.problem(std::move(fault.message), std::move(fault.hint)));
    };
    const std::optional<std::string> secret_key = named_by_file(key);
    if (std::optional<config::Fault> fault = java_fault(secret_key.value_or(key))) {
      refuse(*std::move(fault));
      continue;
    }
    if (secret_key) {
      std::variant<std::string, config::Fault> secret = read_secret(value);
      if (config::Fault* const fault = std::get_if<config::Fault>(&secret)) {
        refuse(std::move(*fault));
      } else if (settings.kafka().contains(*secret_key)) {
        refuse({"contradicts " + std::string(prefix) + *secret_key, "keep one of the two"});
      } else {
        result.push_back({*secret_key, std::get<std::string>(std::move(secret)), true, place});
      }
      continue;
    }
    const bool secret = is_confidential(key);
    std::optional<config::Fault> fault = decision_fault(key, value);
    if (!fault && secret) fault = inline_fault(key, place);
    if (!fault && secret) fault = blank_fault(value);
    if (!fault) fault = key_file_fault(key, value);
    if (fault) {
      refuse(*std::move(fault));
    } else {
      result.push_back({key, value, secret, place});
    }
  }
  return result;
}

}  // namespace forelock::kafka
