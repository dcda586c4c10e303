// The contract suite against real servers: one alone, and one that follows in an ensemble of three.
#include <memory>

#include "contract/contract_test.h"
#include "contract/grouping_backend.h"
#include "contract/real_backend.h"
#include "support/test_ensemble.h"
#include "support/test_server.h"

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

// Servers start when the first test needs them and end with the program, on the thread that started them.
class ServersEnd : public ::testing::Environment {
 public:
  void TearDown() override {
    alone.reset();
    ensemble.reset();
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

INSTANTIATE_TEST_SUITE_P(
    ZooKeeper, ContractTest,
    ::testing::Values(BackendMaker{"alone", [] { return make_real_backend(port_alone(), false); }},
                      BackendMaker{"chroot", [] { return make_real_backend(port_alone(), true); }},
                      BackendMaker{"follower", [] { return make_real_backend(port_of_follower(), false); }},
                      grouping(BackendMaker{"alone", [] { return make_real_backend(port_alone(), false); }})),
    backend_name);

}  // namespace
}  // namespace forelock::contract
