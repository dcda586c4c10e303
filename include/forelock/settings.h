/// \file
/// The settings of a client: read from a file, overridden one by one, and asked for by typed getters.
///
/// Every key, its default, range and meaning: docs/configuration.md.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "forelock/configuration_error.h"
#include "forelock/export.h"
#include "forelock/lock_types.h"
#include "forelock/priority.h"
#include "forelock/server_address.h"

namespace forelock {

namespace config {
struct SettingsData;
}

/// The permissions of the nodes that a client creates (`zookeeper.acl`).
enum class AclMode {
  open,        ///< readable and writable by everyone
  creator_all  ///< only clients with the same credentials
};

/// TLS to ZooKeeper (`zookeeper.tls.…`); not used while `ca_file` is empty. Files that are not set have empty paths.
struct TlsSettings {
  /// The oldest version that is spoken.
  enum class Version { v1_2, v1_3 };

  std::filesystem::path ca_file;            ///< the authorities that are trusted
  std::filesystem::path certificate_file;   ///< presented to the servers
  std::filesystem::path key_file;           ///< its private key; empty if the program has set its text
  std::filesystem::path key_password_file;  ///< of an encrypted key; the same
  std::filesystem::path crl_file;           ///< revoked certificates
  std::vector<std::string> server_names;    ///< empty: the names or addresses of the server list
  Version min_version = Version::v1_2;      ///< `zookeeper.tls.min.version`
};

/// SASL to ZooKeeper (`zookeeper.sasl.…`), with or without TLS. Unset members are empty.
struct SaslSettings {
  /// How connections are authenticated.
  enum class Mechanism {
    none,        ///< SASL is not used
    digest_md5,  ///< by the user and the password
    gssapi       ///< by Kerberos, with the credentials of this process
  };

  Mechanism mechanism = Mechanism::none;  ///< `zookeeper.sasl.mechanism`
  std::string user;                       ///< of DIGEST-MD5
  std::filesystem::path password_file;    ///< of that user; empty if the program has set the password
  std::string service = "zookeeper";      ///< of the servers' Kerberos principals
  std::string realm;                      ///< that a server must offer with DIGEST-MD5; empty: any
};

/// A complete and valid set of settings: an object with a wrong value does not exist.
///
/// Thread-safety: as for a value such as std::string. Reading one object from many threads is safe; `set` needs that
/// no other thread uses this object. Copies are cheap and independent of each other. References returned by getters are
/// valid until `set`, assignment or destruction of this object.
///
/// Not guaranteed: that a file named by a setting exists, or that a server answers. Settings never connect, and read
/// no file but the one that is loaded and, in `load_digest`, the credentials.
class FORELOCK_EXPORT Settings {
 public:
  /// How the text is written.
  enum class Format { properties, yaml };

  /// One value from elsewhere than the file, such as a command line.
  struct Override {
    std::string key;               ///< in any spelling that a file may use
    std::string value;             ///< as it would stand in a file
    std::string origin = "--set";  ///< for messages and for Entry
  };

  /// One setting in force, for display.
  struct Entry {
    std::string key;      ///< the key of the contract, whatever spelling was used
    std::string value;    ///< durations in milliseconds, sizes in bytes; "******" where it is a secret
    std::string origin;   ///< "default", "FILE:LINE", or the origin of an override
    bool secret = false;  ///< the value is masked
  };

  /// The defaults. The environment (XDG_STATE_HOME, HOME) is read here, for the outbox's path.
  Settings();
  // No move operations: a moved-from object would have no settings.
  /// Cheap; independent of the original from then on.
  Settings(const Settings&) = default;
  /// As copying.
  Settings& operator=(const Settings&) = default;
  ~Settings() = default;

  /// Reads a `.properties` file (the rules of java.util.Properties, UTF-8) or a `.yaml`/`.yml` file, at most 1 MiB,
  /// then applies `overrides`, later ones over earlier ones; what concerns several keys is checked at the end. Throws
  /// ConfigurationException with every problem found, also when the file cannot be read.
  static Settings load(const std::filesystem::path& path, const std::vector<Override>& overrides = {});

  /// The same for text in memory; `name` stands for the file in origins and errors.
  static Settings from_string(std::string_view text, Format format, std::string_view name,
                              const std::vector<Override>& overrides = {});

  /// Overrides one setting, or several that are checked together (such as both lock prefixes). Unlike in a file, which
  /// belongs to a host application too, an unknown key is always an error. A program that has a secret from a place of
  /// its own, such as a vault, gives it by the key of its file without ".file" (`zookeeper.sasl.password`) and an
  /// origin that begins with no "-": it stays in memory. Throws ConfigurationException; nothing has changed then.
  void set(std::string_view key, std::string_view value, std::string_view origin = "--set");
  /// Several at once: all of them, or none.
  void set(const std::vector<Override>& overrides);

  /// `zookeeper.servers`: at least one, in the order of the list, unresolved.
  const std::vector<ServerAddress>& servers() const noexcept;
  /// The path behind the server list, such as "/forelock"; empty without one.
  const std::string& chroot() const noexcept;
  /// `zookeeper.session.timeout`: the time-out requested; the server decides. Held locks survive an outage of 0.38 of
  /// it for sure: of the default of 5 s that is 1.9 s. 15 s is a good value for production.
  std::chrono::milliseconds session_timeout() const noexcept;
  /// `zookeeper.session.file`: where a process keeps its session, for its successor to end should it be killed; empty:
  /// nowhere.
  const std::filesystem::path& session_file() const noexcept;
  /// `zookeeper.connection.retry`: attempts after a disconnection.
  int connection_retry() const noexcept;
  /// `zookeeper.connection.delay`: the time between them.
  std::chrono::milliseconds connection_delay() const noexcept;
  /// `zookeeper.foregound.lock.prefix`: part of node names; sorts before the other.
  const std::string& foreground_prefix() const noexcept;
  /// `zookeeper.backgound.lock.prefix`
  const std::string& background_prefix() const noexcept;
  /// The node-name prefix of the given class.
  const std::string& prefix(Priority priority) const noexcept;
  /// `zookeeper.foregound.task.timeout`, `zookeeper.backgound.task.timeout`: how long a lock of that class
  /// waits.
  std::chrono::milliseconds timeout(Priority priority) const noexcept;
  /// `zookeeper.background.max.wait`: after how long the first background contender moves to the end of the
  /// foreground's queue; zero: never.
  std::chrono::milliseconds background_max_wait() const noexcept;
  /// `zookeeper.admission`: whether a lock waits that would probably not be obtained in time.
  Admission admission() const noexcept;
  /// `zookeeper.queue.max`: how many contenders may wait before a new one; 0: any number.
  std::size_t queue_max() const noexcept;
  /// `zookeeper.lock.watch`
  WatchMode watch_mode() const noexcept;
  /// `zookeeper.monitor.linger`: how long a monitor's node stays after its last use in this process, at least; zero:
  /// the server removes it.
  std::chrono::milliseconds monitor_linger() const noexcept;
  /// `zookeeper.lock.linger`: how long an unlocked lock stays with its process; 0: not at all.
  std::chrono::milliseconds linger() const noexcept;
  /// `zookeeper.lock.linger.max`: how many do at a time.
  std::size_t linger_max() const noexcept;
  /// `zookeeper.lock.linger.reused`: whether only locks do that have been held here less than that time before.
  bool linger_reused() const noexcept;
  /// `zookeeper.lock.release.delay`: how long the release of any other lock may wait for a request to go with.
  std::chrono::milliseconds release_delay() const noexcept;
  /// `zookeeper.trace.file`: where spans are written as OTLP/JSON; empty: nowhere.
  const std::filesystem::path& trace_file() const noexcept;
  /// `zookeeper.trace.monitors`: whether these spans name the monitor and the lock info.
  bool trace_monitors() const noexcept;
  /// `zookeeper.auth.digest.file`; empty without credentials, and where the program has set `zookeeper.auth.digest`.
  const std::filesystem::path& auth_digest_file() const noexcept;
  /// `zookeeper.tls.ca.file` and those beside it. The files are read for each connection, not here.
  const TlsSettings& tls() const noexcept;
  /// `zookeeper.sasl.mechanism` and those beside it. The password's file is read for each connection, not here.
  const SaslSettings& sasl() const noexcept;
  /// `zookeeper.acl`: by default creator_all with credentials, open without.
  AclMode acl() const noexcept;

  /// `elastic.request.retry.count`: retries, so one less than attempts.
  int request_retry_count() const noexcept;
  /// `dlq.topic`
  const std::string& dlq_topic() const noexcept;
  /// `dlq.outbox.path`; empty when it is not set and the environment names no home folder.
  const std::filesystem::path& outbox_path() const noexcept;
  /// `dlq.outbox.max.bytes`
  std::int64_t outbox_max_bytes() const noexcept;
  /// The settings whose keys begin with "kafka.", without that prefix, for librdkafka, which checks them. Contains
  /// secrets. Has "bootstrap.servers" only when that is not empty.
  const std::map<std::string, std::string>& kafka() const noexcept;

  /// Reads `user:password` from the file that `zookeeper.auth.digest.file` names: one line, in a file of the
  /// user of this process with mode 0600 or less, or of root with mode 0640 or less, as secrets are mounted into
  /// containers; or what the program has set as `zookeeper.auth.digest`. Returns "" without these. Throws
  /// ConfigurationException, without any of the contents.
  std::string load_digest() const;

  /// Every setting in force: those of the contract in the order of the documentation, then those for Kafka by
  /// name. Free of secrets.
  std::vector<Entry> entries() const;
  /// Keys of the text or file that were left to the application, but look like misspelt ones of this library
  /// (`zookeper.servers`), in its order, at most a hundred. A Client logs each as a warning when it is made.
  const std::vector<ConfigurationProblem>& doubts() const noexcept;

 private:
  friend struct config::SettingsData;
  explicit Settings(std::shared_ptr<const config::SettingsData> data) noexcept;

  std::shared_ptr<const config::SettingsData> data_;  // never null
};

}  // namespace forelock
