// A CommandClient is the client of one command.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "cli/command.h"
#include "client/client_use.h"
#include "forelock/client.h"

namespace forelock::client {
class EnsembleLink;
}

namespace forelock::cli {

// For a client whose log goes to the log file, and to stderr: nothing without -v, problems with it, everything with
// -vv.
LogSink log_to(const Console& console);
// How much such a client has to log: the course of each lock for -vvv and --log-level debug.
LogDetail log_detail(const Console& console);

// For commands about dead letters: errors without -v too, as they may be about operations that are not where they
// should be (a damaged outbox, say); each only once in a row. With -o json, stderr is for the one JSON object: as
// log_to.
LogSink dead_letter_log(const Console& console);

// A Client whose end takes a bounded time, even on a line that has fallen silent: then it is left to the end of the
// process, see something_is_left_behind(). Its locks must not outlive it; what its log sink refers to must live as
// long as the process.
class CommandClient {
 public:
  CommandClient(const Settings& settings, const Console& console, client::ClientUse use = client::ClientUse::locks);
  // As close().
  ~CommandClient();
  CommandClient(const CommandClient&) = delete;
  CommandClient& operator=(const CommandClient&) = delete;

  // Ends the session; after longest_close without its confirmation. Its end has been sent by then, unless the server
  // cannot be reached, or answers other requests all the time.
  void close();

  Client& operator*() const { return *client_; }
  Client* operator->() const { return client_.get(); }
  // For work in the background.
  const std::shared_ptr<Client>& shared() const { return client_; }

  static constexpr std::chrono::milliseconds longest_close{450};

 private:
  std::shared_ptr<Client> client_;
  bool closed_ = false;
};

// How long a command that only looks waits for a server: the session's time-out, but at least a second.
std::chrono::milliseconds patience(const Settings& settings);


}  // namespace forelock::cli
