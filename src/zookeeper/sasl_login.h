// SASL as the C client's exchange.
#pragma once

#include <zookeeper/zookeeper.h>

#include <functional>
#include <memory>
#include <string>

#include "zookeeper/name_lookup.h"
#include "zookeeper/sasl_context.h"

namespace forelock::zookeeper {

#ifdef FORELOCK_TLS

// Outlives the C client's handle. Its functions are called on the threads of that.
class SaslLogin {
 public:
  enum class End {
    accepted,
    refused,    // by the server, or by this side
    cut_short,  // the server has ended the connection: it may have refused, or be about to end itself
    unanswered  // or given up by this side
  };

  // `report`: what an exchange with a server has come to, and why. True: no other is to be tried. Must not block for
  // long.
  using Report = std::function<bool(const std::string& server, End end, const std::string& problem)>;

  SaslLogin(std::shared_ptr<const SaslContext> context, std::shared_ptr<const NameLookup> names, Report report);
  SaslLogin(const SaslLogin&) = delete;
  SaslLogin& operator=(const SaslLogin&) = delete;

  const zoo_exchange_t* get() const { return &functions_; }

 private:
  struct Attempt;

  static bool finish(const Attempt& attempt, int code);

  const std::shared_ptr<const SaslContext> context_;
  const std::shared_ptr<const NameLookup> names_;
  const Report report_;
  zoo_exchange_t functions_{};
};

#endif

}  // namespace forelock::zookeeper
