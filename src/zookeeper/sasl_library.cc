#include "zookeeper/sasl_library.h"

#include <dlfcn.h>
#include <strings.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <stdexcept>

namespace forelock::zookeeper {
namespace {

struct ProcessMutex {
  const pid_t process = getpid();
  std::mutex mutex;
};

// Never destroyed: connections may outlive static storage. A forked child has its own, because a thread that it does
// not have may hold its parent's.
std::mutex& one_in_the_library() {
  static std::atomic<ProcessMutex*> present{nullptr};
  ProcessMutex* known = present.load();
  if (known != nullptr && known->process == getpid()) return known->mutex;
  auto made = std::make_unique<ProcessMutex>();
  if (present.compare_exchange_strong(known, made.get())) known = made.release();
  return known->mutex;
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

}  // namespace

SaslUse::SaslUse() : guard_(one_in_the_library()) {
  static const SaslFunctions functions = load();  // tried again by the next one if it throws
  functions_ = &functions;
}

bool SaslUse::knows(const std::string& mechanism) const {
  const char** all = functions_->global_listmech();
  for (; all != nullptr && *all != nullptr; ++all) {
    if (strcasecmp(*all, mechanism.c_str()) == 0) return true;
  }
  return false;
}

}  // namespace forelock::zookeeper
