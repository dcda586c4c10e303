// What a session does between its first connection and the moment at which it is reported: authentication, and the
// chroot's nodes.
#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "zookeeper/reply_mapping.h"
#include "zookeeper/request_sender.h"
#include "zookeeper/session_core.h"
#include "zookeeper/zookeeper_session.h"

namespace forelock::zookeeper {

using coordination::ReplyCode;

namespace {

constexpr std::chrono::seconds setup_retry_interval{1};
// After an answer that says nothing of the chroot, as one that the server has too much to do.
constexpr std::chrono::milliseconds setup_retry_soon{100};

}  // namespace

std::size_t most_watched_bytes() {
#ifdef FORELOCK_TLS
  return std::size_t{4} * 1024 * 1024;
#else
  return std::size_t{768} * 1024;
#endif
}

zhandle_t* SessionCore::make_client(const std::string& addresses) {
  const auto timeout = static_cast<int>(options_.session_timeout.count());
  clientid_t known{};
  if (options_.taken_over) {
    known.client_id = options_.taken_over->id;
    std::copy(options_.taken_over->password.begin(), options_.taken_over->password.end(), known.passwd);
  }
  const clientid_t* const taken_over = options_.taken_over ? &known : nullptr;
#ifdef FORELOCK_TLS
  if (options_.tls) {
    transport_ = std::make_unique<TlsTransport>(
        options_.tls, names_,
        [this](const std::string& server, const std::string& problem) { tls_met(server, problem); });
  }
  if (options_.sasl) {
    login_ = std::make_unique<SaslLogin>(
        options_.sasl, names_, [this](const std::string& server, SaslLogin::End end, const std::string& problem) {
          return sasl_met(server, end, problem);
        });
  }
  if (options_.tls || options_.sasl) {
    return zookeeper_init_transport(addresses.c_str(), &receive_watch, timeout, taken_over, this, ZOO_NO_LOG_CLIENTENV,
                                    log_hook_.callback(), transport_ ? transport_->get() : nullptr,
                                    login_ ? login_->get() : nullptr);
  }
#endif
  return zookeeper_init2(addresses.c_str(), &receive_watch, timeout, taken_over, this, ZOO_NO_LOG_CLIENTENV,
                         log_hook_.callback());
}

SessionIdentity SessionCore::identity_of(const clientid_t& known) {
  SessionIdentity identity{known.client_id, {}};
  static_assert(sizeof known.passwd == sizeof identity.password);
  std::copy(std::begin(known.passwd), std::end(known.passwd), identity.password.begin());
  return identity;
}

std::optional<SessionIdentity> SessionCore::identity() const {
  const std::lock_guard lock(queue_mutex_);
  return identity_;
}

void SessionCore::begin_setup(zhandle_t* handle) {
  if ((prefix_.empty() || !options_.make_chroot) && !options_.credential) {
    setup_.done = true;
    report_connected(handle);
    return;
  }
  std::lock_guard order(submit_mutex_);
  if (handle_ == nullptr) return;
  if (options_.credential && !setup_.auth_added) {
    // From now on the client repeats it on every new connection, before anything else.
    const std::string& credential = *options_.credential;
    setup_.auth_added =
        zoo_add_auth(handle, "digest", credential.data(), static_cast<int>(credential.size()), nullptr, nullptr) == ZOK;
    if (!setup_.auth_added) return;  // the connection is gone; the next one begins anew
  }
  // The reply comes after the one to the authentication.
  look_for_chroot(handle);
}

// What fails here for lack of a connection is begun again with the next one.
void SessionCore::look_for_chroot(zhandle_t* handle) {
  zoo_awexists(handle, prefix_.empty() ? "/" : prefix_.chroot().c_str(), nullptr, nullptr, &SessionCore::on_first_look,
               this);
}

void SessionCore::create_chroot() {
  std::lock_guard order(submit_mutex_);
  if (handle_ == nullptr) return;
  // One may exist, and one above may be closed to us: only whether the last one is there counts.
  for (const std::string& node : prefix_.components()) {
    zoo_acreate(handle_, node.c_str(), "", 0, acl_.get(), ZOO_PERSISTENT, &SessionCore::on_chroot_created, this);
  }
  zoo_awexists(handle_, prefix_.chroot().c_str(), nullptr, nullptr, &SessionCore::on_second_look, this);
}

void SessionCore::on_first_look(int code, const ::Stat* /*stat*/, const void* core) {
  static_cast<SessionCore*>(const_cast<void*>(core))->chroot_looked_for(code, false);
}

void SessionCore::on_second_look(int code, const ::Stat* /*stat*/, const void* core) {
  static_cast<SessionCore*>(const_cast<void*>(core))->chroot_looked_for(code, true);
}

void SessionCore::on_chroot_created(int code, const char* /*path*/, const void* core) {
  if (code == ZOK || code == ZNODEEXISTS) return;
  static_cast<SessionCore*>(const_cast<void*>(core))->setup_failed(code);
}

void SessionCore::chroot_looked_for(int code, bool after_creation) {
  if (setup_.reported_connected) return;
  if (code == ZOK || (code == ZNONODE && !options_.make_chroot)) {
    zhandle_t* handle = nullptr;
    {
      std::lock_guard order(submit_mutex_);
      handle = handle_;
    }
    if (handle == nullptr) return;
    setup_.done = true;
    report_connected(handle);
  } else if (code == ZNONODE && !after_creation && !prefix_.empty()) {
    create_chroot();
  } else if (code == ZNONODE) {
    // Either a creation failed and said why, or the node was removed since.
    std::lock_guard lock(queue_mutex_);
    if (!attendant_.setup_again_at) attendant_.setup_again_at = std::chrono::steady_clock::now() + setup_retry_interval;
    attendant_.wakes.notify_one();
  } else {
    setup_failed(code);
  }
}

void SessionCore::setup_failed(int code) {
  const ReplyCode reason = reply_code(code);
  if (reason == ReplyCode::connection_loss || reason == ReplyCode::session_expired) return;
  const bool refused = coordination::effect_of(reason) == coordination::Effect::not_applied;
  {
    std::lock_guard lock(queue_mutex_);
    if (refused) {
      problem_ =
          SessionProblem{reason, "the chroot node " + prefix_.chroot() + " does not exist and cannot be created (" +
                                     std::string(name_of(reason)) + "): create it, or permit this client to"};
    }
    attendant_.setup_again_at = std::chrono::steady_clock::now() + (refused ? setup_retry_interval : setup_retry_soon);
  }
  attendant_.wakes.notify_one();
}

}  // namespace forelock::zookeeper
