// Lock and set objects against a tree in memory.
#pragma once

#include "client/lock_slot.h"
#include "client/set_slot.h"
#include "support/test.h"
#include "tree_session.h"

namespace forelock::client {

// Their core's threads do not run: nothing happens but what a test does.
class SlotFixture : public ::testing::Test {
 protected:
  explicit SlotFixture(Settings settings = {}) : core_(std::make_shared<ClientCore>(std::move(settings), LogSink())) {
    session_.connect(1h);
  }

  static LockOptions options() {
    LockOptions options;
    options.capture_stack = false;
    return options;
  }
  std::shared_ptr<LockSlot> make_slot(const std::string& monitor = "P", Priority priority = Priority::foreground,
                                      LockOptions options = {}) {
    options.capture_stack = false;
    return std::make_shared<LockSlot>(core_, "test", monitor, priority, options);
  }
  std::shared_ptr<SetSlot> make_set(const std::vector<std::string>& monitors = {"P", "Q"}) {
    return std::make_shared<SetSlot>(core_, "test", monitors, Priority::foreground, options());
  }
  // Asks for it, and has all requests answered.
  template <class Slot>
  void take(Slot& slot) {
    slot.acquire(lock::never, false);
    session_.answer_all();
  }
  std::shared_ptr<LockSlot> hold(const std::string& monitor = "P") {
    auto slot = make_slot(monitor);
    take(*slot);
    EXPECT_TRUE(slot->holds());
    return slot;
  }
  // From now on the test uses a core with other settings, and a session of its own.
  void use_other_core(Settings settings) {
    former_ = std::exchange(core_, std::make_shared<ClientCore>(std::move(settings), LogSink()));
  }

  std::shared_ptr<ClientCore> core_;
  std::shared_ptr<ClientCore> former_;
  TreeSession session_{*core_};
};

}  // namespace forelock::client
