// The contract suite against real servers: one alone, one that follows in an ensemble of three, and one over TLS.
#include "contract/real_backend.h"
#include "contract/contract_test.h"
#include "contract/grouping_backend.h"
#include "support/secure_server.h"
#include "support/test_ensemble.h"
#include "support/test_server.h"
#include "support/text_of.h"

namespace forelock::contract {
namespace {

test::ServerOptions server_options() {
  test::ServerOptions options;
  options.force_sync = false;  // the tests wait for the network, not for the disk
  options.enforce_quota = true;
  return options;
}

std::unique_ptr<test::TestServer> alone;
std::unique_ptr<test::TestEnsemble> ensemble;
std::unique_ptr<test::SecureServer> secure;

// Servers start when the first test needs them and end with the program, on the thread that started them.
class ServersEnd : public ::testing::Environment {
 public:
  void TearDown() override {
    alone.reset();
    ensemble.reset();
    secure.reset();
  }
};

const auto* const registered = ::testing::AddGlobalTestEnvironment(new ServersEnd);

std::uint16_t port_alone() {
  if (!alone) alone = std::make_unique<test::TestServer>(server_options());
  return alone->port();
}

std::uint16_t port_of_follower() {
  if (!ensemble) ensemble = std::make_unique<test::TestEnsemble>(server_options());
  return ensemble->server(ensemble->follower()).port();
}

#ifdef FORELOCK_TLS
std::shared_ptr<const zookeeper::TlsContext> tls_with(const test::Identity& identity) {
  zookeeper::TlsOptions options;
  options.read = [identity] {
    return zookeeper::TlsFiles{.authorities = test::text_of(secure->authority().certificate()),
                               .certificate = test::text_of(identity.certificate),
                               .key = test::text_of(identity.key)};
  };
  return std::make_shared<const zookeeper::TlsContext>(std::move(options));
}

std::unique_ptr<Backend> make_secure_backend() {
  if (!secure) secure = std::make_unique<test::SecureServer>(server_options());
  static const test::Identity owner = secure->authority().issue("owner", {});
  return make_real_backend(secure->server().port(), true,
                           {secure->port(), tls_with(secure->client()), tls_with(owner)});
}

INSTANTIATE_TEST_SUITE_P(ZooKeeperOverTls, ContractTest,
                         ::testing::Values(BackendMaker{"alone", [] { return make_secure_backend(); }}), backend_name);
#endif

INSTANTIATE_TEST_SUITE_P(
    ZooKeeper, ContractTest,
    ::testing::Values(BackendMaker{"alone", [] { return make_real_backend(port_alone(), false); }},
                      BackendMaker{"chroot", [] { return make_real_backend(port_alone(), true); }},
                      BackendMaker{"follower", [] { return make_real_backend(port_of_follower(), false); }},
                      grouping(BackendMaker{"alone", [] { return make_real_backend(port_alone(), false); }})),
    backend_name);

}  // namespace
}  // namespace forelock::contract
