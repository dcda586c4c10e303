// A Backend is a coordination server under the contract tests: the real one and the in-memory model implement it.
//
// To run the suite, link `forelock_contract_suite` and write, in a source file of your own:
//
//   namespace forelock::contract {
//   INSTANTIATE_TEST_SUITE_P(Model, ContractTest, ::testing::Values(BackendMaker{"memory", make_model_backend}),
//                            backend_name);
//   }
//
// (ContractTest and backend_name from "contract/contract_test.h"). A Backend is made for each test and destroyed after
// it, always after its sessions.
#pragma once

#include "coordination/session.h"
#include "support/standard.h"

namespace forelock::contract {

// Tests that need what a backend lacks are skipped.
struct Capabilities {
  bool cut = false;                // BackendSession::cut, heal
  bool withhold_replies = false;   // BackendSession::withhold_replies
  bool expire = false;             // BackendSession::expire
  bool containers_vanish = false;  // an emptied container disappears within run_until
  bool access_control = false;     // Identity::owner
  bool quota = false;              // Backend::limit_descendants
};

// Which nodes a session may use: nodes created by an `owner` are closed to `anyone`.
enum class Identity { anyone, owner };

// One session, and what the world can do to it. The destructor closes it. Its listener outlives it.
class BackendSession {
 public:
  virtual ~BackendSession() = default;

  virtual coordination::Session& session() = 0;

  // Ends the session in good order: when close returns, every request is answered and no more calls are made to the
  // listener. The server has removed the ephemeral nodes then or does so soon. Harmless when repeated.
  virtual void close() = 0;

  // Drops the connection at once and refuses new ones until heal(). Replies on the way are lost.
  virtual void cut() = 0;
  virtual void heal() = 0;

  // From now until cut() or heal(), requests still reach the server and are applied, but nothing comes back.
  virtual void withhold_replies() = 0;

  // The server ends the session as if its time had run out. Returns when the server has done so, or before.
  virtual void expire() = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;

  virtual Capabilities capabilities() const = 0;

  // A new session, which begins to connect: `connected` follows on the listener, usually after this returns. The root
  // of its namespace exists; other tests may have left nodes there.
  virtual std::unique_ptr<BackendSession> new_session(coordination::SessionListener& listener,
                                                      Identity identity = Identity::anyone) = 0;

  // Of the clock that its sessions go by.
  virtual std::chrono::steady_clock::time_point now() const = 0;

  // Lets the world go on until the predicate holds: true; or until that is hopeless (nothing is left that could
  // happen, or some seconds have passed): false. The predicate is called on the calling thread.
  virtual bool run_until(const std::function<bool()>& predicate) = 0;

  // From now on at most `count` nodes may exist under and including `path` (which exists). Only with the capability.
  virtual void limit_descendants(const std::string& /*path*/, int /*count*/) {}
};

// A named way to make a backend: the parameter of the suite.
struct BackendMaker {
  std::string name;  // letters, digits and underscores
  std::function<std::unique_ptr<Backend>()> make;
};

}  // namespace forelock::contract
