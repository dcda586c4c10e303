#include "zookeeper/sasl_library.h"

#include <dlfcn.h>
#include <strings.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace forelock::zookeeper {
namespace {

// Into the library: one thread at a time, and what it is to do before it leaves.
struct Gate {
  const pid_t process = getpid();
  std::mutex mutex;  // held for moments
  std::condition_variable left;
  bool taken = false;
  std::vector<std::function<void(const SaslFunctions&)>> calls;
};

// Never destroyed: connections may outlive static storage. A forked child has its own, because a thread that it does
// not have may be inside its parent's.
Gate& gate() {
  static std::atomic<Gate*> present{nullptr};
  Gate* known = present.load();
  if (known != nullptr && known->process == getpid()) return *known;
  auto made = std::make_unique<Gate>();
  if (present.compare_exchange_strong(known, made.get())) known = made.release();
  return *known;
}

template <typename Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) throw std::runtime_error("libsasl2 lacks " + std::string(name));
}

// Never unloaded, nor told that it is not used any more: it counts its users, and another may be in the process.
SaslFunctions load() {
  void* library = nullptr;
  for (const char* const name : {"libsasl2.so.2", "libsasl2.so.3"}) {  // of Debian; of Fedora
    if (library == nullptr) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  }
  if (library == nullptr) {
    throw std::runtime_error("Cyrus SASL is not on this machine: install libsasl2-2 and libsasl2-modules");
  }
  SaslFunctions functions;
  find(library, "sasl_client_init", functions.client_init);
  find(library, "sasl_client_new", functions.client_new);
  find(library, "sasl_client_start", functions.client_start);
  find(library, "sasl_client_step", functions.client_step);
  find(library, "sasl_setprop", functions.setprop);
  find(library, "sasl_errdetail", functions.errdetail);
  find(library, "sasl_global_listmech", functions.global_listmech);
  find(library, "sasl_dispose", functions.dispose);
  if (functions.client_init(nullptr) != SASL_OK) throw std::runtime_error("libsasl2 cannot be used");
  return functions;
}

const SaslFunctions& library() {
  static const SaslFunctions functions = load();  // tried again by the next one if it throws
  return functions;
}

}  // namespace

SaslUse::Entry::Entry(std::chrono::milliseconds patience) {
  Gate& own = gate();
  std::unique_lock lock(own.mutex);
  if (!own.left.wait_for(lock, patience, [&own] { return !own.taken; })) {
    throw SaslBusy("another client of this process is in libsasl2: does its KDC answer?");
  }
  own.taken = true;
}

SaslUse::Entry::~Entry() {
  Gate& own = gate();
  std::unique_lock lock(own.mutex);
  while (!own.calls.empty()) {
    const auto calls = std::exchange(own.calls, {});
    lock.unlock();
    for (const auto& call : calls) call(library());
    lock.lock();
  }
  own.taken = false;
  own.left.notify_one();
}

SaslUse::SaslUse() : functions_(&library()) {}

void SaslUse::when_free(std::function<void(const SaslFunctions&)> call) {
  Gate& own = gate();
  {
    const std::lock_guard lock(own.mutex);
    own.calls.push_back(std::move(call));
    if (std::exchange(own.taken, true)) return;
  }
  const Entry taken;  // which makes the calls at its end
}

bool SaslUse::knows(const std::string& mechanism) const {
  const char** all = functions_->global_listmech();
  for (; all != nullptr && *all != nullptr; ++all) {
    if (strcasecmp(*all, mechanism.c_str()) == 0) return true;
  }
  return false;
}

}  // namespace forelock::zookeeper
