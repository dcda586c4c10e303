// Cyrus SASL, loaded only if it is used: not every machine has it.
#pragma once

#include <sasl/sasl.h>

#include <mutex>
#include <string>

namespace forelock::zookeeper {

// Its functions, under their names without "sasl_".
struct SaslFunctions {
  decltype(&::sasl_client_init) client_init = nullptr;
  decltype(&::sasl_client_new) client_new = nullptr;
  decltype(&::sasl_client_start) client_start = nullptr;
  decltype(&::sasl_client_step) client_step = nullptr;
  decltype(&::sasl_setprop) setprop = nullptr;
  decltype(&::sasl_errdetail) errdetail = nullptr;
  decltype(&::sasl_global_listmech) global_listmech = nullptr;
  decltype(&::sasl_dispose) dispose = nullptr;
};

// Its functions may be called while this exists: one thread at a time in the whole process. The library is safe for
// several only if it has been told how locks are made, and that is the host's matter: another user may be in it.
class SaslUse {
 public:
  // Throws std::runtime_error if there is no such library.
  SaslUse();

  const SaslFunctions* operator->() const { return functions_; }
  // Whether it has this mechanism.
  bool knows(const std::string& mechanism) const;

 private:
  const std::lock_guard<std::mutex> guard_;
  const SaslFunctions* functions_;
};

}  // namespace forelock::zookeeper
