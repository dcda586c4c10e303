// SASL to the servers: the identity of this client, and the exchanges that prove it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace forelock::zookeeper {

enum class SaslMechanism { digest_md5, gssapi };

struct SaslOptions {
  SaslMechanism mechanism = SaslMechanism::digest_md5;
  std::string user;  // of DIGEST-MD5
  // Called for each exchange of DIGEST-MD5. Throws std::exception that says what is wrong, where, and what to do, and
  // nothing of the contents.
  std::function<std::string()> read_password;
  std::string service = "zookeeper";  // of the servers' Kerberos principals
  std::string realm;                  // that the server must offer with DIGEST-MD5; empty: any
};

// What one connection is authenticated by. Used by one thread at a time.
class SaslExchange {
 public:
  enum class Step { over, goes_on, failed };

  virtual ~SaslExchange() = default;

  // Takes what the server has sent; nothing, the first time. `goes_on`: it is to get reply(), and to answer. `over`:
  // both sides have shown who they are. GSSAPI may ask a KDC, and blocks that long.
  virtual Step step(std::string_view received) = 0;
  virtual std::string_view reply() const = 0;
  // Why it has failed; empty otherwise.
  virtual const std::string& problem() const = 0;
  // Whether that says nothing of the server, nor of the credentials: another exchange of this process stands still.
  virtual bool postponed() const = 0;
};

// Thread-safe.
class SaslContext {
 public:
  // Throws std::runtime_error if this build has no SASL.
  explicit SaslContext(SaslOptions options);
  ~SaslContext();
  SaslContext(const SaslContext&) = delete;
  SaslContext& operator=(const SaslContext&) = delete;

  // Throws std::exception if exchanges could not begin: there is no library, no such mechanism or no password. While
  // another thread does not come out of the library, only the password is looked at.
  void check() const;

  // With the server of this name, without which there is no GSSAPI. What is wrong here fails its first step.
  std::unique_ptr<SaslExchange> open(std::string host) const;

  // For messages.
  const char* mechanism() const;

 private:
  const SaslOptions options_;
};

}  // namespace forelock::zookeeper
