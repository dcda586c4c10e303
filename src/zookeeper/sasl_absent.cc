// For builds without SASL; settings refuse it there.
#include <stdexcept>

#include "zookeeper/sasl_context.h"

namespace forelock::zookeeper {

SaslContext::SaslContext(SaslOptions /*options*/) {
  throw std::runtime_error("this build has no SASL to ZooKeeper");
}
SaslContext::~SaslContext() = default;
void SaslContext::check() const {}
std::unique_ptr<SaslExchange> SaslContext::open(std::string /*host*/) const {
  return nullptr;
}
const char* SaslContext::mechanism() const {
  return "";
}

}  // namespace forelock::zookeeper
