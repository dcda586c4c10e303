// Cyrus SASL, loaded only if it is used: not every machine has it.
#pragma once

#include <sasl/sasl.h>

#include <chrono>
#include <functional>
#include <stdexcept>
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

// Another thread is in the library, and stays there: it may ask a KDC that does not answer.
class SaslBusy : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Its functions may be called while this exists: one thread at a time in the whole process. The library is safe for
// several only if it has been told how locks are made, and that is the host's matter: another user may be in it.
class SaslUse {
 public:
  // How long another thread is waited for.
  static constexpr std::chrono::seconds patience{2};

  // Throws SaslBusy, or another std::runtime_error if there is no such library.
  SaslUse();
  // Calls it now, or by the thread that is in the library, when that is done. Only once the library has been used.
  static void when_free(std::function<void(const SaslFunctions&)> call);

  const SaslFunctions* operator->() const { return functions_; }
  // Whether it has this mechanism.
  bool knows(const std::string& mechanism) const;

 private:
  class Entry {
   public:
    Entry() = default;  // that is there already
    explicit Entry(std::chrono::milliseconds patience);
    ~Entry();
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;
  };

  const Entry entry_{patience};
  const SaslFunctions* functions_;
};

}  // namespace forelock::zookeeper
