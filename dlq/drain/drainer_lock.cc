#include "drain/drainer_lock.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <system_error>

#include "base/shell_word.h"
#include "drain/hashed_key.h"
#include "forelock/error.h"
#include "forelock/inspector.h"

namespace forelock::drain {
namespace {

std::string hexadecimal(const HashedKey& key) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(key.high ^ key.low));
  return text.data();
}

std::string host_name() {
  std::array<char, 65> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  return name.data();
}

// Long enough for the session of a drainer that was killed a moment ago to end, with some to spare.
std::chrono::milliseconds patience(const Client& client) {
  const auto session = std::max(client.session_timeout(), client.settings().session_timeout());
  return session + std::chrono::milliseconds(1500);
}

// Waits for a server, at most so long, and no longer than until it is to stop.
void wait_for_server(Client& client, std::chrono::milliseconds limit, const std::stop_token& stop) {
  constexpr std::chrono::milliseconds slice{100};  // nothing but a connection ends a wait for one
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!stop.stop_requested() && std::chrono::steady_clock::now() < end && !client.wait_connected(slice)) {
  }
}

}  // namespace

std::string drainer_monitor(const Settings& settings, StoreKind kind) {
  if (kind == StoreKind::configured && settings.kafka().contains("bootstrap.servers")) {
    constexpr std::size_t max_topic = 200;  // a monitor's id has at most 255 bytes
    const std::string& topic = settings.dlq_topic();
    return "forelock-dlq-topic-" + (topic.size() <= max_topic ? topic : hexadecimal(hash_key(topic)));
  }
  // One file may be reached by many paths.
  std::error_code ignored;
  auto path = std::filesystem::weakly_canonical(settings.outbox_path(), ignored);
  if (ignored) path = settings.outbox_path();
  return "forelock-dlq-outbox-" + host_name() + "-" + hexadecimal(hash_key(path.string()));
}

DrainerLock::DrainerLock(Client& client, LetterStore& store, const std::string& purpose, std::stop_token stop)
    : store_(store),
      lock_(client, "dead letters: " + purpose + " of " + store.describe(), store.drainer_monitor(),
            Priority::background, {.capture_stack = false}) {
  const std::stop_callback cancel(stop, [this] { lock_.cancel(); });
  wait_for_server(client, patience(client), stop);  // the session's time-out is known then
  if (!stop.stop_requested() && lock_.try_lock_for(patience(client))) {
    store_.set_drainer(this);
    return;
  }
  if (stop.stop_requested()) {
    throw InstanceLockException(ErrorCode::cancelled, lock_.monitor(),
                                "stopped while waiting for another drain to end");
  }
  throw InstanceLockException(
      ErrorCode::lock_timeout, lock_.monitor(),
      "another process drains the " + store.describe() + ": " + holder_text(client, lock_.monitor()),
      "Wait until it has ended, or look at it with: forelock show " + base::shell_argument(lock_.monitor()));
}

DrainerLock::~DrainerLock() {
  store_.set_drainer(nullptr);
  if (lock_.owns_lock()) lock_.unlock();
}

std::string holder_text(Client& client, const std::string& monitor) {
  try {
    const auto view = Inspector(client, std::chrono::seconds(1)).show(monitor);
    if (!view || !view->holder) return "it is not held any more";
    const HolderView& holder = *view->holder;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(holder.held).count();
    const std::string since = " since " + std::to_string(seconds) + " s";
    if (!holder.owner) return "held by a client without an owner record" + since;
    return "held by " + holder.owner->instance + " for \"" + holder.owner->lock_info + "\"" + since;
  } catch (const std::exception& problem) {
    return std::string("who holds it is not known: ") + problem.what();
  }
}

}  // namespace forelock::drain
