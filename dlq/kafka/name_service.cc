#include "kafka/name_service.h"

#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

namespace forelock::kafka {
namespace {

using Clock = std::chrono::steady_clock;
using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

// An answer that was waited for in vain and is older than this is not used any more.
constexpr std::chrono::seconds keep_answer{10};

}  // namespace

// Shared with the threads.
struct NameService::State {
  struct Name {
    bool under_way = false;
    bool answered = false;
    Clock::time_point answered_at;
    int code = 0;
    AddressList addresses{nullptr, &freeaddrinfo};
  };

  explicit State(LookUp given) : look_up(std::move(given)) {}

  void answer(const std::string& key, const std::string& node, const std::string& service, const addrinfo& hints) {
    addrinfo* found = nullptr;
    int code = look_up(node.c_str(), service.c_str(), &hints, &found);
    if (code == EAI_SYSTEM) code = EAI_FAIL;  // errno is this thread's
    const std::lock_guard guard(mutex);
    Name& name = names.at(key);
    name.addresses.reset(code == 0 ? found : nullptr);
    name.code = code;
    name.answered = true;
    name.answered_at = Clock::now();
    name.under_way = false;
    changed.notify_all();
  }

  const LookUp look_up;
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::string, Name> names;
};

NameService::NameService(LookUp look_up) : state_(std::make_shared<State>(std::move(look_up))) {}

NameService::~NameService() = default;

int NameService::resolve(const char* node, const char* service, const addrinfo* hints, addrinfo** found) {
  const auto deadline = Clock::now() + patience;
  const std::string key = std::string(node) + '\n' + service + '\n' + std::to_string(hints->ai_family) + ' ' +
                          std::to_string(hints->ai_flags);
  std::unique_lock guard(state_->mutex);
  State::Name& name = state_->names[key];
  if (name.answered && Clock::now() - name.answered_at > keep_answer) name.answered = false;
  for (;;) {
    if (std::exchange(name.answered, false)) {
      *found = name.addresses.release();
      return name.code;
    }
    if (!std::exchange(name.under_way, true)) {
      try {
        std::thread([state = state_, key, host = std::string(node), port = std::string(service), wanted = *hints] {
          state->answer(key, host, port, wanted);
        }).detach();
      } catch (const std::exception&) {
        name.under_way = false;
        return EAI_AGAIN;
      }
    }
    if (!state_->changed.wait_until(guard, deadline, [&name] { return !name.under_way; })) return EAI_AGAIN;
  }
}

NameService& NameService::of_system() {
  static auto* const service = new NameService(&getaddrinfo);  // its threads may outlive static objects
  return *service;
}

int resolve_broker(const char* node, const char* service, const addrinfo* hints, addrinfo** found, void* /*opaque*/) {
  if (node == nullptr && service == nullptr && hints == nullptr) {
    freeaddrinfo(*found);
    return 0;
  }
  try {
    return NameService::of_system().resolve(node == nullptr ? "" : node, service == nullptr ? "" : service, hints,
                                            found);
  } catch (const std::exception&) {
    return EAI_MEMORY;
  }
}

}  // namespace forelock::kafka
