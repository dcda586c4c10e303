#include "zookeeper/log_hooks.h"

#include <array>
#include <cstddef>
#include <mutex>
#include <utility>

namespace forelock::zookeeper {
namespace {

constexpr std::size_t slot_count = 256;

struct Slot {
  std::mutex mutex;
  bool taken = false;
  std::function<void(std::string_view)> receiver;
  // Changes only while no client has the callback.
  std::function<void()> broken;
};

// Of the C client's lines, the one that its I/O thread writes when a connection, or an attempt at one, has failed:
// "2026-11-24 23:42:16,480:16833(0x7f8d6effd6c0):ZOO_ERROR@check_events@3011: Socket 127.0.0.1:2181 zk retcode=-4,
// errno=112(Host is down): …". Paths, which could look like anything, are in lines of other levels alone.
bool says_that_it_failed(std::string_view line) {
  const auto level_end = line.find('@');
  return level_end != std::string_view::npos && line.substr(0, level_end).ends_with(":ZOO_ERROR") &&
         line.find(", errno=", level_end) != std::string_view::npos;
}

// Never destroyed: a C client that is closed late, from a destructor of static storage, may still log.
std::array<Slot, slot_count>& slots() {
  static auto& all = *new std::array<Slot, slot_count>;
  return all;
}

template <std::size_t index>
void forward(const char* message) {
  Slot& slot = slots()[index];
  const bool broken = says_that_it_failed(message);
  {
    std::lock_guard lock(slot.mutex);
    if (slot.receiver) slot.receiver(message);
  }
  if (broken) slot.broken();  // last: what it does may log, and `message` is the C client's only buffer for that
}

template <std::size_t... index>
constexpr std::array<log_callback_fn, sizeof...(index)> make_callbacks(std::index_sequence<index...>) {
  return {&forward<index>...};
}

constexpr auto callbacks = make_callbacks(std::make_index_sequence<slot_count>());

void ignore(const char*) {}

// The level belongs to the whole process; the default (info) writes several lines for each connection.
void lower_level_once() {
  static std::once_flag once;
  std::call_once(once, [] { zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR); });
}

}  // namespace

LogHook::LogHook(std::function<void(std::string_view)> receiver, std::function<void()> broken) : callback_(&ignore) {
  lower_level_once();
  for (std::size_t index = 0; index < slot_count; ++index) {
    Slot& slot = slots()[index];
    // Where it is locked, it is in use; in a forked child perhaps for ever, by a thread that the child does not have.
    const std::unique_lock lock(slot.mutex, std::try_to_lock);
    if (!lock || slot.taken) continue;
    slot.taken = true;
    slot.receiver = std::move(receiver);
    slot.broken = std::move(broken);
    slot_ = static_cast<int>(index);
    callback_ = callbacks[index];
    return;
  }
}

LogHook::~LogHook() {
  if (slot_ < 0) return;
  Slot& slot = slots()[static_cast<std::size_t>(slot_)];
  std::lock_guard lock(slot.mutex);
  slot.taken = false;
  slot.receiver = nullptr;
  slot.broken = nullptr;
}

}  // namespace forelock::zookeeper
