// Implementation of ZooKeeperSession.
#pragma once

#include <zookeeper/zookeeper.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "coordination/session.h"
#include "zookeeper/acl_vector.h"
#include "zookeeper/call_pool.h"
#include "zookeeper/connect_string.h"
#include "zookeeper/fork_guard.h"
#include "zookeeper/log_hooks.h"
#include "zookeeper/namespace_prefix.h"
#include "zookeeper/reply_queue.h"
#include "zookeeper/sasl_login.h"
#include "zookeeper/session_options.h"
#include "zookeeper/tls_transport.h"
#include "zookeeper/zookeeper_session.h"

namespace forelock::zookeeper {

// Threads: the C client's completion thread delivers replies and events; the attendant, a thread of our own, delivers
// the replies of requests that fail before they are sent (never the caller of submit: it may hold locks that its
// listener needs), and repeats a failed set-up.
//
// Locks, in the order in which they may be taken:
//   delivery_mutex_  held during every call of the listener, so that calls come one at a time
//   submit_mutex_    held from the moment a request gets its serial until the C client has it, so that both orders
//                    agree; guards handle_. The C client's I/O thread takes it, too, before it gives a connection up.
//   queue_mutex_     guards the rest; held for moments, never while calling anything
class SessionCore {
 public:
  SessionCore(SessionOptions options, coordination::SessionListener& listener);
  ~SessionCore();
  SessionCore(const SessionCore&) = delete;
  SessionCore& operator=(const SessionCore&) = delete;

  void start();
  void close();
  void submit(coordination::RequestTag tag, coordination::Request request);
  RefreshResult refresh_servers();
  std::optional<SessionIdentity> identity() const;
  std::optional<SessionProblem> last_problem() const;
  bool in_child() const { return fork_guard_.in_child(); }

  // Called from completions, on the completion thread.
  void finish(Call* call, coordination::Reply reply);
  void retry_without_container(Call* call);
  const NamespacePrefix& prefix() const { return prefix_; }

  // Called from receive_watch, on the completion thread.
  void session_changed(zhandle_t* handle, int state);
  void watch_fired(int type, const char* path);

  // Called from the log hook, on the C client's I/O thread.
  void connection_broken();
  void note_unannounced_loss();

 private:
  enum class Link { disconnected, connected, expired, auth_failed, closed };

  // nullopt when the request may be sent; its paths are absolute then.
  std::optional<coordination::ReplyCode> prepare(coordination::Request& request) const;
  coordination::ReplyCode refusal_of(Link link) const;
  zhandle_t* make_client(const std::string& addresses);
  void tls_met(const std::string& server, const std::string& problem);
#ifdef FORELOCK_TLS
  bool sasl_met(const std::string& server, SaslLogin::End end, const std::string& problem);
#endif
  int send(Call* call, coordination::Request& request);
  bool may_send() const;
  std::size_t address_count() const;
  bool take_new_servers();

  // Waits until what is under way has its answers, or cannot get them any more.
  void drain(zhandle_t* handle);
  void deliver_ready(ReplyQueue::Serial end);
  void change_link(Link link, coordination::ReplyCode pending, coordination::SessionEvent::Kind kind);
  static SessionIdentity identity_of(const clientid_t& known);
  void report_connected(zhandle_t* handle);
  void attend();

  // Set-up before `connected`: authentication and the chroot's nodes. Who has a credential waits for an answer behind
  // it on each connection: nothing may be sent before (request_sender.h).
  void begin_setup(zhandle_t* handle);
  void look_for_chroot(zhandle_t* handle);
  void create_chroot();
  void chroot_looked_for(int code, bool after_creation);
  void setup_failed(int code);
  static void on_first_look(int code, const ::Stat* stat, const void* core);
  static void on_second_look(int code, const ::Stat* stat, const void* core);
  static void on_chroot_created(int code, const char* path, const void* core);

  const SessionOptions options_;
  const ConnectString connect_;
  const NamespacePrefix prefix_;
  const AclVector acl_;
  const std::shared_ptr<NameLookup> names_;
  coordination::SessionListener& listener_;
  const ForkGuard fork_guard_;
  LogHook log_hook_;
#ifdef FORELOCK_TLS
  std::unique_ptr<TlsTransport> transport_;
  std::unique_ptr<SaslLogin> login_;
#endif

  std::mutex close_mutex_;
  std::mutex delivery_mutex_;

  std::mutex submit_mutex_;
  zhandle_t* handle_ = nullptr;
  // Connections that the completion thread has heard of, and those of them that the I/O thread has given up since: see
  // may_send().
  struct {
    std::uint64_t begun = 0;
    std::uint64_t broken = 0;
  } connections_;
  struct {
    std::string given;                                 // what the C client was given
    std::string next;                                  // what it is to get; empty: nothing new
    std::size_t failures = 0;                          // of connections and attempts, since it got those
    std::chrono::steady_clock::time_point asked_at{};  // set before the client's threads exist
  } servers_;

  mutable std::mutex queue_mutex_;
  std::condition_variable answered_;  // a request, while the session closes
  ReplyQueue queue_;
  CallPool calls_;
  Link link_ = Link::disconnected;
  bool finished_ = false;  // closed, and everything answered
  std::optional<SessionIdentity> identity_;
  std::optional<SessionProblem> problem_;
  // Since the last connection; problems by server.
  std::map<std::string, std::string> tls_problems_;
  struct {
    std::map<std::string, std::string> problems;
    std::size_t refusals = 0;
    std::size_t cuts = 0;
    bool refused = false;
  } sasl_;
  struct {
    std::condition_variable wakes;
    bool stop = false;
    std::optional<std::chrono::steady_clock::time_point> setup_again_at;
    std::thread thread;
  } attendant_;

  std::atomic<bool> containers_unsupported_{false};

  // Used on the completion thread only.
  struct {
    bool auth_added = false;
    bool done = false;
    bool reported_connected = false;
  } setup_;
};

}  // namespace forelock::zookeeper
