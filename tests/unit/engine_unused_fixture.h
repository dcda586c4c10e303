// An engine with monitors that it removes when they have not been used for a second.
#pragma once

#include "engine_fixture.h"
#include "lock/limits.h"

namespace forelock::lock {

inline constexpr Duration linger = 1s;

class EngineUnusedTest : public EngineTest {
 protected:
  explicit EngineUnusedTest(bool others_linger = false) : EngineUnusedTest(options(others_linger)) {}
  explicit EngineUnusedTest(const EngineOptions& options) : EngineTest(options) {}

  static EngineOptions options(bool others_linger) {
    EngineOptions options;
    options.monitor_linger = linger;
    options.others_linger = others_linger;
    return options;
  }

  // The claim of a monitor that was not there.
  static Reply claimed_fresh(const std::string& node, Token token) {
    Reply reply = claimed(node, token);
    reply.operations.insert(reply.operations.begin(), coordination::OperationResult{"/P", {}});
    return reply;
  }

  // Of one that a process of ours has made.
  static Reply marked(std::int32_t children, std::int32_t created, Token changed_by) {
    Reply reply = monitor(children, created, changed_by);
    reply.data = monitor_mark;
    return reply;
  }

  static Reply refused(ReplyCode code, std::size_t operation) {
    Reply reply = failure(code);
    reply.refused_operation = operation;
    return reply;
  }

  void cycle(ContenderId id, const std::string& monitor = "P") {
    ask_for(id, monitor);
    answer<Transaction>(claimed_fresh("A-0000000000", 100 + static_cast<Token>(id)));
    release(id);
  }

  void ask_for(ContenderId id, const std::string& monitor) {
    AcquireSpec spec = spec_of(id, Priority::foreground);
    spec.monitor = monitor;
    engine_.acquire(id, std::move(spec), now_);
  }

  void is_silent_for(Duration time) {
    pass(time);
    EXPECT_TRUE(output_.sent.empty());
  }

  void removes_after(Duration time, const std::vector<std::string>& paths) {
    pass(time);
    EXPECT_EQ(removed_by(answer<Transaction>({})), paths);
  }

  // Ticks until then; heartbeats are answered.
  void pass(Duration time) {
    const TimePoint end = now_ + time;
    while (engine_.next_timer() <= end) {
      now_ = std::max(now_, engine_.next_timer());
      engine_.tick(now_);
      answer_heartbeats();
      if (!output_.sent.empty()) return;
    }
    now_ = end;
  }

  // What is to be removed is looked at first, where an outage lies behind what is known of it.
  void finds_marked(const std::string& path) {
    answer_heartbeats();
    const Get look = answer<Get>(marked(0, 2, 100));
    EXPECT_EQ(look.path, path);
    EXPECT_FALSE(look.watch) << "a watch would stay behind";
  }

  static std::vector<std::string> removed_by(const Transaction& transaction) {
    std::vector<std::string> paths;
    for (const auto& operation : transaction.operations) {
      const auto& one = std::get<Delete>(operation);
      EXPECT_EQ(one.version, 0) << "a monitor whose data were set by an administrator stays";
      paths.push_back(one.path);
    }
    return paths;
  }
};

}  // namespace forelock::lock
