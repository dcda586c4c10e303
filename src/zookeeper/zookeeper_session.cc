#include "zookeeper/zookeeper_session.h"

#include <utility>

#include "zookeeper/session_core.h"

namespace forelock::zookeeper {

ZooKeeperSession::ZooKeeperSession(SessionOptions options, coordination::SessionListener& listener)
    : core_(std::make_unique<SessionCore>(std::move(options), listener)) {}

ZooKeeperSession::~ZooKeeperSession() {
  core_->close();
  // In a forked child the locks and threads of the parent's session cannot be destroyed, only left behind.
  if (core_->in_child()) static_cast<void>(core_.release());
}

void ZooKeeperSession::start() {
  core_->start();
}

void ZooKeeperSession::close() {
  core_->close();
}

void ZooKeeperSession::submit(coordination::RequestTag tag, coordination::Request request) {
  core_->submit(tag, std::move(request));
}

RefreshResult ZooKeeperSession::refresh_servers() {
  return core_->refresh_servers();
}

std::optional<SessionIdentity> ZooKeeperSession::identity() const {
  return core_->identity();
}

std::optional<SessionProblem> ZooKeeperSession::last_problem() const {
  return core_->last_problem();
}

}  // namespace forelock::zookeeper
