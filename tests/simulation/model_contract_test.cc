// The contract suite against the model.
#include "contract/contract_test.h"
#include "contract/grouping_backend.h"
#include "model_backend.h"

namespace forelock::contract {
namespace {

INSTANTIATE_TEST_SUITE_P(Model, ContractTest,
                         ::testing::Values(BackendMaker{"alone", [] { return simulation::make_model_backend(1); }},
                                           BackendMaker{"ensemble", [] { return simulation::make_model_backend(3); }},
                                           grouping(BackendMaker{"ensemble",
                                                                 [] { return simulation::make_model_backend(3); }})),
                         backend_name);

}  // namespace
}  // namespace forelock::contract
