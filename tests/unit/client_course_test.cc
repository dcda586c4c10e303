// The course of a lock in the client's log: what it tells, and what it never does.
#include "client/lock_slot.h"
#include "support/test.h"
#include "tree_session.h"

namespace forelock::client {
namespace {

// The lines of a lock's life, from its acquisition to its end.
std::vector<std::string> lines_of_a_life(LogDetail detail) {
  std::vector<std::string> lines;
  LogSink sink = [&lines](std::string_view level, std::string_view line) {
    lines.push_back(std::string(level) + ' ' + std::string(line));
  };
  const auto core = std::make_shared<ClientCore>(Settings(), std::move(sink), detail);
  TreeSession session(*core);
  session.connect(1h);
  LockOptions options;
  options.capture_stack = false;
  const auto slot = std::make_shared<LockSlot>(core, "top-secret-info", "P", Priority::foreground, options);
  slot->acquire(lock::never, false);
  session.answer_all();
  EXPECT_TRUE(slot->holds());
  slot->retire();
  session.answer_all();
  core->start_threads();
  core->close();
  return lines;
}

TEST(ClientCourseTest, DebugTellsALocksCourse) {
  std::string all;
  for (const std::string& line : lines_of_a_life(LogDetail::debug)) {
    EXPECT_TRUE(line.starts_with("debug monitor P, contender 1: ")) << line;
    all += line + '\n';
  }
  std::size_t from = 0;
  for (const char* part : {"asks for the lock, foreground", "claims the lock with a new node", "goes first, proved by",
                           "is granted the lock as A-0000000000, token ", "is released", "has left nothing"}) {
    const std::size_t found = all.find(part, from);
    ASSERT_NE(found, std::string::npos) << part << " is missing, or too early, in\n" << all;
    from = found;
  }
  EXPECT_EQ(all.find("top-secret-info"), std::string::npos) << all;
}

TEST(ClientCourseTest, WithoutDebugNothingOfItIsWritten) {
  EXPECT_EQ(lines_of_a_life(LogDetail::normal), std::vector<std::string>());
}

TEST(ClientCourseTest, WithoutASinkNothingIsExplained) {
  const auto core = std::make_shared<ClientCore>(Settings(), LogSink(), LogDetail::debug);
  TreeSession session(*core);
  session.connect(1h);
  core->close();
}

TEST(ClientCourseTest, NamesThatOthersGaveDoNotSteerATerminal) {
  const std::string text = course_text({lock::CourseStep::behind, "A\x1b[2J-0000000001"});
  EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
}

}  // namespace
}  // namespace forelock::client
