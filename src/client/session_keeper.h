// Keeps the session with an ensemble: creates it, replaces it when it has ended, and updates its servers' addresses.
//
// Has the only thread that may block on the network: sessions are closed here. Names are looked up on other threads.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "client/client_use.h"
#include "client/line_limiter.h"
#include "client/session_record.h"
#include "forelock/settings.h"
#include "zookeeper/session_options.h"

namespace forelock::client {

class EnsembleLink;
class SessionLink;

class SessionKeeper {
 public:
  explicit SessionKeeper(EnsembleLink& ensemble);
  ~SessionKeeper();
  SessionKeeper(const SessionKeeper&) = delete;
  SessionKeeper& operator=(const SessionKeeper&) = delete;

  // \throws ConfigurationException if the credentials' file cannot be used.
  void start(ClientUse use);
  // Has the session closed and the thread ended; stop() waits for it.
  void begin_stop();
  void stop();
  // The present session has ended; from the session's own thread.
  void session_ended();
  SessionRecord& record() { return record_; }

 private:
  void run();
  void keep(SessionLink& link);
  // `serves`: set if a server gives sessions, to others.
  std::string why_disconnected(bool& serves);
  // Waits; true when the keeper is to stop or the session has ended.
  bool wait(std::chrono::milliseconds time);

  EnsembleLink& ensemble_;
  zookeeper::SessionOptions options_;
  std::shared_ptr<zookeeper::NameLookup> names_;
  LineLimiter raw_lines_;
  SessionRecord record_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace forelock::client
