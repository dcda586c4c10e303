// TLS to the servers: trusted and own certificates, and the channels above connected sockets.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace forelock::zookeeper {

// The texts of the files that TLS needs, in PEM.
struct TlsFiles {
  std::string authorities = {};   // nothing else is trusted
  std::string certificate = {};   // with those between it and its authority; empty without one
  std::string key = {};           // of the certificate
  std::string key_password = {};  // empty without one
  std::string revocations = {};   // lists of every authority of a chain; empty: nothing is looked up
};

enum class TlsVersion { tls_1_2, tls_1_3 };

struct TlsOptions {
  // Called for each connection, so that files may be replaced at any time. Throws std::exception that says what is
  // wrong, where, and what to do, and nothing of the contents.
  std::function<TlsFiles()> read;
  // One of these is to stand in the server's certificate; empty: the name by which its address was found.
  std::vector<std::string> server_names;
  TlsVersion min_version = TlsVersion::tls_1_2;
};

// One connection. Used by one thread at a time; nothing of it blocks.
class TlsChannel {
 public:
  virtual ~TlsChannel() = default;

  // Goes on with the handshake: 0 when it is over, and the server has shown that it is the one that is meant; POLLIN or
  // POLLOUT while the socket has to become ready for that; -1 with errno.
  virtual int handshake() = 0;
  // As send() and recv() of a socket that does not block.
  virtual ssize_t send(const void* bytes, std::size_t count) = 0;
  virtual ssize_t recv(void* bytes, std::size_t count) = 0;
  // Whether recv() has bytes that have left the socket already.
  virtual bool pending() const = 0;
  // Why the last function failed, or why the server has not gone on; empty when nothing is wrong.
  virtual const std::string& problem() const = 0;
};

// Thread-safe.
class TlsContext {
 public:
  // Throws std::runtime_error if this build has no TLS.
  explicit TlsContext(TlsOptions options);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  // Reads the files, and throws std::exception if they cannot be used, as connections could not.
  void check() const;

  // Above a socket that is connected and does not block; it stays the caller's. `server` stands in messages. `names`:
  // by which that address was found; one is to stand in the certificate, unless the options name others. Where
  // there are none at all, or the files cannot be used, the handshake fails.
  std::unique_ptr<TlsChannel> open(int socket, const std::string& server, const std::vector<std::string>& names) const;

 private:
  struct State;

  const std::unique_ptr<State> state_;
};

}  // namespace forelock::zookeeper
