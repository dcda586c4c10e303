// A SessionRecord is a client's part in the session file of its process (`zookeeper.session.file`): it has the sessions
// of the process before ended, and its own recorded, so that the next process can do the same.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "session_file/session_file.h"
#include "zookeeper/session_options.h"

namespace forelock::client {

// Nothing here fails: without the file all is as without the setting, and the log says why.
class SessionRecord {
 public:
  using Log = std::function<void(std::string_view level, std::string_view message)>;

  // `log` may be called from any thread, and neither calls this object nor waits.
  explicit SessionRecord(Log log) : log_(std::move(log)) {}
  // As release().
  ~SessionRecord();
  SessionRecord(const SessionRecord&) = delete;
  SessionRecord& operator=(const SessionRecord&) = delete;

  // Before the others; without a path nothing is ever done. `options`: for the connections of this client.
  void use(std::string path, std::string ensemble, const zookeeper::SessionOptions& options);

  // Tries to get the file, unless it has it or has given up: before the first connection, and from time to time. A file
  // that another process has is asked for again; that its own process dies is no reason to wait. Sessions of a dead
  // process are ended in the background.
  void take();

  // The client's session, which it may have had before.
  void connected(const zookeeper::SessionIdentity& session);
  // That session is given up. `ended`: the servers know that it is over.
  void closed(bool ended);

  // Gives the file back, when the client has no session any more. Waits for the end of what take() has begun: a second,
  // and what it takes to close a connection.
  void release();

  // The file's descriptor, for a command that is to keep the lock; -1 if there is none. From now on take() does
  // nothing: the command would not have the lock.
  int share();

 private:
  void write(session_file::SessionFile& file);
  void end_predecessor(session_file::SessionFile& file);

  const Log log_;
  std::string path_;
  std::string ensemble_;
  zookeeper::SessionOptions options_;

  std::mutex mutex_;
  std::shared_ptr<session_file::SessionFile> file_;
  std::optional<zookeeper::SessionIdentity> session_;
  std::string said_;
  bool settled_ = true;  // take() does nothing any more
  std::thread ender_;
};

}  // namespace forelock::client
