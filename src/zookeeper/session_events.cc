// What the C client tells by itself: changes of the connection and of the session, and watches.
#include <algorithm>

#include "zookeeper/descriptor_flags.h"
#include "zookeeper/session_core.h"

namespace forelock::zookeeper {

using coordination::ReplyCode;
using coordination::SessionEvent;
using coordination::WatchEvent;

void receive_watch(zhandle_t* handle, int type, int state, const char* path, void* context) {
  auto* core = static_cast<SessionCore*>(context);
  if (type == ZOO_SESSION_EVENT) {
    core->session_changed(handle, state);
  } else {
    core->watch_fired(type, path);
  }
}

void SessionCore::session_changed(zhandle_t* handle, int state) {
  if (state == ZOO_CONNECTED_STATE) {
    {
      const std::lock_guard order(submit_mutex_);
      connections_.broken = std::max(connections_.broken, connections_.begun);  // those before, however they ended
      ++connections_.begun;
    }
    sockaddr_storage peer{};
    socklen_t length = sizeof(peer);
    if (zookeeper_get_connected_host(handle, reinterpret_cast<sockaddr*>(&peer), &length) != nullptr) {
      protect_sockets_to(reinterpret_cast<const sockaddr*>(&peer));
    }
    // When its pipe is full the client drops the connection without saying so.
    if (setup_.reported_connected) {
      change_link(Link::disconnected, ReplyCode::connection_loss, SessionEvent::Kind::disconnected);
    }
    if (setup_.done && !options_.credential) {
      report_connected(handle);
    } else {
      begin_setup(handle);
    }
  } else if (state == ZOO_EXPIRED_SESSION_STATE) {
    change_link(Link::expired, ReplyCode::session_expired, SessionEvent::Kind::expired);
  } else if (state == ZOO_AUTH_FAILED_STATE) {
    // What was sent before the refusal may have been done.
    change_link(Link::auth_failed, ReplyCode::connection_loss, SessionEvent::Kind::auth_failed);
  } else if (setup_.reported_connected) {
    note_unannounced_loss();
    change_link(Link::disconnected, ReplyCode::connection_loss, SessionEvent::Kind::disconnected);
  }
}

// What connection_broken() rests on is a line of the client's log, as this host has it, and this version.
void SessionCore::note_unannounced_loss() {
  bool announced = true;
  {
    const std::lock_guard order(submit_mutex_);
    announced = connections_.broken >= connections_.begun;
  }
  static std::atomic_flag said;
  if (announced || !options_.log || said.test_and_set()) return;
  options_.log(
      "ZooKeeper's client lost a connection without an error line: requests may be sent on a connection that is being "
      "given up, and fail. Keep zoo_set_debug_level() at ZOO_LOG_LEVEL_ERROR or above, and the client at version 3.8");
}

// The client reports the event before it completes what was pending; here it is the other way round.
void SessionCore::change_link(Link link, ReplyCode pending, SessionEvent::Kind kind) {
  std::lock_guard delivery(delivery_mutex_);
  ReplyQueue::Serial end = 0;
  {
    std::lock_guard lock(queue_mutex_);
    if (link_ == Link::closed) return;
    link_ = link;
    queue_.fail_all(pending);
    end = queue_.end();
  }
  setup_.reported_connected = false;
  deliver_ready(end);
  SessionEvent event;
  event.kind = kind;
  if (kind == SessionEvent::Kind::auth_failed) {
    if (const auto problem = last_problem()) event.problem = problem->message;
  }
  listener_.on_session(event);
}

void SessionCore::report_connected(zhandle_t* handle) {
  std::lock_guard delivery(delivery_mutex_);
  {
    std::lock_guard lock(queue_mutex_);
    if (link_ == Link::closed) return;
    link_ = Link::connected;
    identity_ = identity_of(*zoo_client_id(handle));
    problem_.reset();
    tls_problems_.clear();
    sasl_ = {};
    attendant_.setup_again_at.reset();
  }
  setup_.reported_connected = true;
  SessionEvent event;
  event.kind = SessionEvent::Kind::connected;
  event.session = zoo_client_id(handle)->client_id;
  event.timeout = std::chrono::milliseconds(zoo_recv_timeout(handle));
  event.asked_at = servers_.asked_at;
  listener_.on_session(event);
}

void SessionCore::watch_fired(int type, const char* path) {
  WatchEvent event;
  if (type == ZOO_CREATED_EVENT) {
    event.kind = WatchEvent::Kind::created;
  } else if (type == ZOO_DELETED_EVENT) {
    event.kind = WatchEvent::Kind::deleted;
  } else if (type == ZOO_CHANGED_EVENT) {
    event.kind = WatchEvent::Kind::data_changed;
  } else if (type == ZOO_CHILD_EVENT) {
    event.kind = WatchEvent::Kind::children_changed;
  } else {
    return;
  }
  event.path = prefix_.relative(path);
  std::lock_guard delivery(delivery_mutex_);
  {
    std::lock_guard lock(queue_mutex_);
    if (link_ == Link::closed) return;
  }
  listener_.on_watch(event);
}

}  // namespace forelock::zookeeper
