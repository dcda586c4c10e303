#include "config/option_table.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <utility>

#include "config/edit_distance.h"

namespace forelock::config {
namespace {

// The C client takes times and counts as int.
constexpr std::int64_t int_max = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t largest_retry_count = 1000;  // each failed attempt is kept in the dead letter's record
// Each needs a few watches: src/core/lock/watch_ledger.h.
constexpr std::int64_t largest_linger_count = 10'000;
constexpr std::int64_t largest_release_delay = 1000;
constexpr std::int64_t largest_outbox = std::int64_t{1} << 50;

constexpr std::array<Option, static_cast<std::size_t>(OptionId::count)> table{{
    {OptionId::servers, "zookeeper.servers", "", OptionType::servers, "localhost:2181", "", 0, 0, "", Importance::high,
     "The servers, host:port separated by commas; IPv6 as [::1]:2181; port 2181 where it is missing. A path behind the "
     "last one (a chroot) is the namespace of all locks."},
    {OptionId::session_timeout, "zookeeper.session.timeout", "", OptionType::duration, "5000", "", 1, int_max, "",
     Importance::high,
     "After this time without contact the server ends the session, and its locks with it. The server allows 2 to 20 of "
     "its ticks and picks the nearest. Held locks survive an outage of 0.38 of it for sure, of 5000 that is 1900: "
     "15000 is a good value for production."},
    {OptionId::session_file, "zookeeper.session.file", "", OptionType::path, "", "", 0, 0, "", Importance::medium,
     "A file of this process alone, in which it keeps its session: should it be killed, the process that is started "
     "with the same file ends that session at once, and its locks are free (see Operating, A process that is killed). "
     "Made with mode 0600, on a local file system; best is a folder of its own below `/run`."},
    {OptionId::connection_retry, "zookeeper.connection.retry", "", OptionType::number, "5", "", 0, int_max, "",
     Importance::medium, "Connection attempts after a disconnection."},
    {OptionId::connection_delay, "zookeeper.connection.delay", "", OptionType::duration, "1000", "", 0, int_max, "",
     Importance::medium, "The time between connection attempts."},
    {OptionId::foreground_prefix, "zookeeper.foregound.lock.prefix", "zookeeper.foreground.lock.prefix",
     OptionType::prefix, "A", "", 0, 0, "", Importance::medium,
     "How the names of foreground contenders begin. The lowest letter goes first. All clients need the same."},
    {OptionId::background_prefix, "zookeeper.backgound.lock.prefix", "zookeeper.background.lock.prefix",
     OptionType::prefix, "B", "", 0, 0, "", Importance::medium,
     "How the names of background contenders begin. Must sort after the foreground prefix."},
    {OptionId::foreground_timeout, "zookeeper.foregound.task.timeout", "zookeeper.foreground.task.timeout",
     OptionType::duration, "2000", "", 0, int_max, "", Importance::high,
     "How long a foreground task waits for a lock."},
    {OptionId::background_timeout, "zookeeper.backgound.task.timeout", "zookeeper.background.task.timeout",
     OptionType::duration, "2000", "", 0, int_max, "", Importance::high,
     "How long a background task waits for a lock."},
    {OptionId::background_max_wait, "zookeeper.background.max.wait", "", OptionType::duration, "0", "", 0, int_max, "",
     Importance::medium,
     "After this time the first background contender of a monitor moves to the end of the foreground's queue, those "
     "behind it one such time after the other. 0: never. Must be shorter than the background's time-out to help; the "
     "foreground's time-out, and a background time-out of four of it, are good values."},
    {OptionId::admission, "zookeeper.admission", "", OptionType::choice, "off", "", 0, 0, "off|refuse",
     Importance::medium,
     "Whether a lock is refused at once (`lock_refused`) that would probably not be obtained within its time-out: at "
     "least eight wait before it, and what this process has seen of the monitor says so."},
    {OptionId::queue_max, "zookeeper.queue.max", "", OptionType::number, "0", "", 0, int_max, "", Importance::medium,
     "How many contenders may wait for a monitor before a new one: if there are as many, it is refused at once "
     "(`lock_refused`). 0: any number."},
    {OptionId::request_retry_count, "elastic.request.retry.count", "", OptionType::number, "3", "", 0,
     largest_retry_count, "", Importance::high,
     "Retries of an operation, not counting the first attempt. Then it goes to the dead-letter queue."},
    {OptionId::dlq_topic, "dlq.topic", "", OptionType::topic, "MdmDeadLetterQueue", "", 0, 0, "", Importance::medium,
     "The Kafka topic of dead letters. The topics with `.parking` and `.resolved` behind that name belong to it."},
    {OptionId::outbox_path, "dlq.outbox.path", "", OptionType::path, "", "$XDG_STATE_HOME/forelock/outbox.db", 0, 0, "",
     Importance::medium, "The file where dead letters are kept until Kafka has them. Made with mode 0600."},
    {OptionId::outbox_max_bytes, "dlq.outbox.max.bytes", "", OptionType::size, "268435456", "", 1, largest_outbox, "",
     Importance::medium, "Maximum size of the outbox; beyond it dead-lettering fails and the caller gets an error."},
    {OptionId::watch, "zookeeper.lock.watch", "", OptionType::choice, "parent", "", 0, 0, "parent|predecessor",
     Importance::low,
     "The node that waiters watch: the monitor's, or (for very many processes) the one before theirs."},
    {OptionId::monitor_linger, "zookeeper.monitor.linger", "", OptionType::duration, "5000", "", 0, int_max, "",
     Importance::low,
     "How long a monitor's node stays after its last use here, at least; then it is removed if it is unused. With 0 "
     "monitors are containers, of which the server removes at most 10,000 a minute."},
    {OptionId::linger, "zookeeper.lock.linger", "", OptionType::duration, "0", "", 0, int_max, "", Importance::medium,
     "How long an unlocked lock stays with its process, as long as no other contender wants it: the next acquisition "
     "there needs no request. 0: not at all. A stalled process keeps its lingering locks until its session expires."},
    {OptionId::linger_max, "zookeeper.lock.linger.max", "", OptionType::number, "1000", "", 1, largest_linger_count, "",
     Importance::low,
     "How many unlocked locks stay with a process at a time. Beyond it the least recently used one is released."},
    {OptionId::linger_reused, "zookeeper.lock.linger.reused", "", OptionType::choice, "false", "", 0, 0, "false|true",
     Importance::low,
     "Whether a lock stays with its process only if it has been held there before, within that period. Locks used once "
     "then cost no extra request; locks used again and again need none from the third time on."},
    {OptionId::release_delay, "zookeeper.lock.release.delay", "", OptionType::duration, "0", "", 0,
     largest_release_delay, "", Importance::low,
     "How long an unlocked lock may be kept until its release can share a request with the next lock's. Another "
     "process that has come to wait for it waits at most that much longer. 0: it is released at once."},
    {OptionId::trace_file, "zookeeper.trace.file", "", OptionType::path, "", "", 0, 0, "", Importance::low,
     "A file to which a span is written for each acquisition and each hold, as lines of OTLP/JSON (see Operating, "
     "Traces). Processes may share it; a tool may rename it at any time."},
    {OptionId::trace_monitors, "zookeeper.trace.monitors", "", OptionType::choice, "false", "", 0, 0, "false|true",
     Importance::low, "Whether these spans name the monitor and say what the lock is for."},
    {OptionId::auth_digest_file, "zookeeper.auth.digest.file", "", OptionType::path, "", "", 0, 0, "",
     Importance::medium,
     "A file with one line `user:password` that is closed to others (see Secrets). Credentials never stand in this "
     "file itself."},
    {OptionId::acl, "zookeeper.acl", "", OptionType::choice, "",
     "`creator-all` with `zookeeper.auth.digest.file` or `zookeeper.sasl.mechanism`, else `open`", 0, 0,
     "creator-all|open", Importance::medium,
     "The permissions of the nodes that a client creates: only clients with the same credentials, or all clients."},
    {OptionId::tls_ca_file, "zookeeper.tls.ca.file", "", OptionType::path, "", "", 0, 0, "", Importance::high,
     "The certificates (PEM) of the authorities that the servers' certificates are from. With it every connection to "
     "ZooKeeper is TLS; no other authority is trusted. This and the next files are read again for each connection."},
    {OptionId::tls_certificate_file, "zookeeper.tls.certificate.file", "", OptionType::path, "", "", 0, 0, "",
     Importance::medium,
     "The certificate (PEM) that is shown to the servers, with those between it and its authority behind it."},
    {OptionId::tls_key_file, "zookeeper.tls.key.file", "", OptionType::path, "", "", 0, 0, "", Importance::medium,
     "The private key (PEM) of that certificate, in a file that is closed to others (see Secrets)."},
    {OptionId::tls_key_password_file, "zookeeper.tls.key.password.file", "", OptionType::path, "", "", 0, 0, "",
     Importance::low, "A file with one line, the password of an encrypted key, that is closed to others."},
    {OptionId::tls_server_names, "zookeeper.tls.server.names", "", OptionType::names, "", "`zookeeper.servers`", 0, 0,
     "", Importance::low,
     "Names or addresses separated by commas, of which one must stand in each server's certificate (as a subject "
     "alternative name; a wildcard stands for one whole label)."},
    {OptionId::tls_min_version, "zookeeper.tls.min.version", "", OptionType::choice, "1.2", "", 0, 0, "1.2|1.3",
     Importance::low, "The oldest TLS version that is spoken."},
    {OptionId::tls_crl_file, "zookeeper.tls.crl.file", "", OptionType::path, "", "", 0, 0, "", Importance::low,
     "Revocation lists (PEM), one of every authority of a chain. Without the file nothing is known to be revoked."},
    {OptionId::sasl_mechanism, "zookeeper.sasl.mechanism", "", OptionType::choice, "", "", 0, 0, "DIGEST-MD5|GSSAPI",
     Importance::high,
     "How SASL authenticates every connection to ZooKeeper before it is used: by a user and a password, or by "
     "Kerberos. "
     "ZooKeeper's servers have no other mechanism."},
    {OptionId::sasl_user, "zookeeper.sasl.user", "", OptionType::text, "", "", 0, 0, "", Importance::medium,
     "The user of `DIGEST-MD5`. With `GSSAPI` the Kerberos credentials say who it is."},
    {OptionId::sasl_password_file, "zookeeper.sasl.password.file", "", OptionType::path, "", "", 0, 0, "",
     Importance::medium,
     "A file with one line, the password of that user, that is closed to others (see Secrets). It is read again for "
     "each connection."},
    {OptionId::sasl_service, "zookeeper.sasl.service", "", OptionType::text, "zookeeper", "", 0, 0, "", Importance::low,
     "The first part of the servers' Kerberos principals, `zookeeper/host@REALM`."},
    {OptionId::sasl_realm, "zookeeper.sasl.realm", "", OptionType::text, "", "the server's", 0, 0, "", Importance::low,
     "The realm that a server must offer with `DIGEST-MD5`. For `GSSAPI` krb5.conf names it."},
    {OptionId::kafka_servers, "kafka.bootstrap.servers", "", OptionType::text, "", "", 0, 0, "", Importance::medium,
     "The Kafka brokers. Without them the outbox is the dead-letter queue. Every other key that begins with `kafka.` "
     "goes to librdkafka too."},
}};

constexpr bool in_order() {
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (table[i].id != static_cast<OptionId>(i)) return false;
  }
  return true;
}
static_assert(in_order());

// What others call it.
constexpr std::pair<std::string_view, std::string_view> other_words[] = {
    {"zookeeper.hosts", "zookeeper.servers"},           {"zookeeper.host", "zookeeper.servers"},
    {"zookeeper.connect", "zookeeper.servers"},         {"zookeeper.connectString", "zookeeper.servers"},
    {"zookeeper.connect.string", "zookeeper.servers"},  {"zookeeper.quorum", "zookeeper.servers"},
    {"zookeeper.address", "zookeeper.servers"},         {"zookeeper.url", "zookeeper.servers"},
    {"zookeeper.timeout", "zookeeper.session.timeout"},
};

constexpr std::string_view own_prefixes[] = {"zookeeper.", "elastic.request.retry.", "dlq.", kafka_prefix};

// Their lengths first: files of applications have many keys that are far from all of ours.
bool is_near(std::string_view a, std::string_view b) {
  constexpr std::size_t few_letters = 2;
  const std::size_t difference = a.size() < b.size() ? b.size() - a.size() : a.size() - b.size();
  return difference <= few_letters && edit_distance(a, b) <= few_letters;
}

std::string_view name_of(Importance importance) {
  switch (importance) {
    case Importance::high:
      return "high";
    case Importance::medium:
      return "medium";
    case Importance::low:
      break;
  }
  return "low";
}

std::string code(std::string_view text) {
  return '`' + std::string(text) + '`';
}

std::string shown_default(const Option& option) {
  if (option.fallback_shown.starts_with('`')) return std::string(option.fallback_shown);
  if (!option.fallback_shown.empty()) return code(option.fallback_shown);
  return option.fallback.empty() ? "–" : code(option.fallback);
}

}  // namespace

std::span<const Option> options() {
  return table;
}

OptionId prefix_option(Priority priority) {
  switch (priority) {
    case Priority::foreground:
      return OptionId::foreground_prefix;
    case Priority::background:
      return OptionId::background_prefix;
  }
  return {};
}

OptionId timeout_option(Priority priority) {
  switch (priority) {
    case Priority::foreground:
      return OptionId::foreground_timeout;
    case Priority::background:
      return OptionId::background_timeout;
  }
  return {};
}

const Option& option(OptionId id) {
  return table[static_cast<std::size_t>(id)];
}

const Option* find_option(std::string_view key) {
  if (key.empty()) return nullptr;
  const auto found = std::find_if(table.begin(), table.end(), [key](const Option& option) {
    return option.key == key || option.other_spelling == key;
  });
  return found == table.end() ? nullptr : &*found;
}

bool is_own_key(std::string_view key) {
  return std::any_of(std::begin(own_prefixes), std::end(own_prefixes),
                     [key](std::string_view prefix) { return key.starts_with(prefix); });
}

bool may_lead_to_own_key(std::string_view path) {
  if (path.empty()) return true;
  const std::string begin = std::string(path) + '.';
  return is_own_key(begin) || std::any_of(std::begin(own_prefixes), std::end(own_prefixes),
                                          [&begin](std::string_view prefix) { return prefix.starts_with(begin); });
}

std::string_view nearest_key(std::string_view key) {
  key = key.substr(0, 256);  // no known key is nearly as long: keeps the work bounded
  for (const auto& [other, meant] : other_words) {
    if (key == other) return meant;
  }
  std::string_view nearest;
  std::size_t least = std::max<std::size_t>(2, key.size() / 4) + 1;
  for (const Option& option : table) {
    for (const std::string_view known : {option.key, option.other_spelling}) {
      if (known.empty()) continue;
      const std::size_t distance = edit_distance(key, known);
      if (distance >= least) continue;
      least = distance;
      nearest = known;
    }
  }
  return nearest;
}

bool looks_like_own_key(std::string_view key) {
  if (is_own_key(key)) return false;
  if (is_near(key.substr(0, key.find('.')), "zookeeper")) return true;
  return std::any_of(table.begin(), table.end(), [key](const Option& option) {
    return is_near(key, option.key) || (!option.other_spelling.empty() && is_near(key, option.other_spelling));
  });
}

std::string range_of(const Option& option) {
  std::string bounds = std::to_string(option.min) + " to " + std::to_string(option.max);
  switch (option.type) {
    case OptionType::servers:
      return "a list of servers";
    case OptionType::number:
      return bounds;
    case OptionType::duration:
      return bounds + " ms";
    case OptionType::size:
      return bounds + " bytes";
    case OptionType::prefix:
      return "1 to 64 ASCII characters without `-`, `/` and blanks; not the beginning of `privateLock`";
    case OptionType::topic:
      return "1 to 240 of letters, digits, `.`, `_`, `-`";
    case OptionType::path:
      return "a path";
    case OptionType::choice: {
      std::string words(option.choices);
      for (std::size_t at = words.find('|'); at != std::string::npos; at = words.find('|'))
        words.replace(at, 1, " or ");
      return words;
    }
    case OptionType::names:
      return "names of hosts, separated by commas";
    case OptionType::text:
      break;
  }
  return "any text";
}

std::string markdown_table() {
  std::string text = "| key | default | range | importance | meaning |\n|---|---|---|---|---|\n";
  for (const Option& option : table) {
    text += "| " + code(option.key);
    if (!option.other_spelling.empty()) text += " or " + code(option.other_spelling);
    text += " | " + shown_default(option) + " | " + range_of(option) + " | " + std::string(name_of(option.importance)) +
            " | " + std::string(option.description) + " |\n";
  }
  return text;
}

}  // namespace forelock::config
