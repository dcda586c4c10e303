#include "forelock/client.h"

#include <utility>

#include "base/thread_start.h"
#include "client/client_core.h"
#include "forelock/configuration_error.h"

namespace forelock {

Client::Client(Settings settings, LogSink log, LogDetail detail, std::shared_ptr<Tracer> tracer)
    : core_(std::make_shared<client::ClientCore>(std::move(settings), std::move(log), detail, std::move(tracer))) {
  for (const ConfigurationProblem& doubt : core_->settings().doubts()) core_->log("warning", to_string(doubt));
  core_->start();
}

Client::~Client() {
  if (core_->in_forked_child()) {
    // The threads that the core would join, and the locks that they held, belong to the parent: leave it all alone.
    new std::shared_ptr<client::ClientCore>(std::move(core_));
    return;
  }
  if (core_->on_callback_thread()) {
    // Closing waits for the callback that is running here, so it happens elsewhere, and ends after that.
    auto* const core = new std::shared_ptr<client::ClientCore>(std::move(core_));
    try {
      base::start_thread("forelock-end", [core] {
        (*core)->close();
        delete core;
      }).detach();
    } catch (const base::NoThread&) {
      (*core)->begin_close();  // the sessions end, and the locks with them; the rest is left behind
    }
  } else {
    core_->close();
  }
}

const Settings& Client::settings() const noexcept {
  return core_->settings();
}

bool Client::wait_connected(std::chrono::milliseconds timeout) {
  core_->check_usable();
  return core_->wait_connected(timeout);
}

bool Client::connected() const noexcept {
  return !core_->in_forked_child() && core_->ensemble().connected();
}
std::int64_t Client::session_id() const noexcept {
  return core_->ensemble().session_id();
}
std::chrono::milliseconds Client::session_timeout() const noexcept {
  return core_->ensemble().session_timeout();
}
std::string Client::last_problem() const {
  return core_->ensemble().last_problem();
}
const std::string& Client::instance() const noexcept {
  return core_->instance();
}
ClientStatistics Client::statistics() const {
  return core_->statistics();
}
void Client::close() {
  if (core_->on_callback_thread()) {
    throw RequestRejectedException(ErrorCode::invalid_argument, {},
                                   "close() was called from a callback of this client, whose end it would wait for",
                                   "close the client from another thread");
  }
  core_->close();
}

}  // namespace forelock
