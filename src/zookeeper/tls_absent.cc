// For builds whose ZooKeeper client has no TLS; settings refuse it there.
#include <stdexcept>

#include "zookeeper/tls_context.h"

namespace forelock::zookeeper {

struct TlsContext::State {};

TlsContext::TlsContext(TlsOptions /*options*/) {
  throw std::runtime_error("this build cannot speak TLS to ZooKeeper");
}
TlsContext::~TlsContext() = default;
void TlsContext::check() const {}
std::unique_ptr<TlsChannel> TlsContext::open(int /*socket*/, const std::string& /*server*/,
                                             const std::vector<std::string>& /*names*/) const {
  return nullptr;
}

}  // namespace forelock::zookeeper
