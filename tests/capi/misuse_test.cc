// Runs the misuse of the C interface on a real server, in a process of its own.
#include "integration/fixture.h"
#include "support/child_process.h"
#include "support/temporary_directory.h"
#include "support/test.h"
#include "support/text_of.h"

namespace forelock::test {
namespace {

TEST(Misuse, OfTheCInterfaceIsSurvived) {
  const TestServer server(quick_server());
  const TemporaryDirectory directory;
  const auto output = directory.path() / "output.log";
  const int seconds = 5 * length();
  ChildProcess misuse(
      {FORELOCK_MISUSE, server.connect_string(), directory.path() / "outbox.db", std::to_string(seconds)}, output);
  const int status = misuse.wait();
  EXPECT_EQ(status, 0) << text_of(output);
}

}  // namespace
}  // namespace forelock::test
