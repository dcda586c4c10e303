// A GuardedWrite commits operations of the host in one transaction with the checks of the locks that it holds, and
// determines the meaning of a refusal.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/contender_listener.h"
#include "coordination/session.h"
#include "forelock/write_operation.h"
#include "lock/engine_types.h"

namespace forelock::client {

class EnsembleLink;

class GuardedWrite {
 public:
  // One lock that must be held.
  struct Hold {
    std::string monitor;
    std::string node_name;
    lock::ContenderId contender = 0;
    std::string guid;
  };
  struct Guard {
    EnsembleLink& ensemble;
    const agent::ContenderListener& caller;
    std::string name;  // of the lock or set, for messages
    std::vector<Hold> holds;
    std::function<void()> check_health;  // throws LockUnhealthyException
    std::function<bool()> still_held;    // as far as the caller knows
  };

  explicit GuardedWrite(Guard guard) : guard_(std::move(guard)) {}

  // Blocks for a round trip. \throws as WriteLock::write_guarded.
  std::vector<WriteResult> commit(const std::vector<WriteOperation>& operations) const;

 private:
  enum class Ours { yes, no, unknown };
  struct Finding {
    Ours ours = Ours::yes;
    std::string monitor;  // of the lock that is not ours
  };
  // What the server says of the locks.
  Finding look() const;
  [[noreturn]] void throw_not_ours(const std::string& monitor) const;
  [[noreturn]] void throw_connection_loss(std::string_view outcome) const;

  const Guard guard_;
};

}  // namespace forelock::client
