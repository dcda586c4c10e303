// How long a queue waits for Kafka, without one.
#include "forelock/dead_letter_queue.h"
#include "outbox/outbox.h"
#include "sample_letter.h"
#include "support/temporary_directory.h"
#include "support/test.h"

namespace forelock::forward {
namespace {

TEST(FlushTest, TheLongestTimeIsAsLongAsItTakes) {
  const test::TemporaryDirectory directory;
  const std::filesystem::path path = directory.path() / "outbox.db";
  const Settings settings = Settings::from_string(
      "kafka.bootstrap.servers=127.0.0.1:1\ndlq.outbox.path=" + path.string() + '\n', Settings::Format::properties, "");
  DeadLetterQueue queue(settings);
  queue.accept(test::sample_letter("a"));
  std::promise<void> begun;
  auto flushed = std::async(std::launch::async, [&] {
    begun.set_value();
    return queue.flush(std::chrono::milliseconds::max());
  });
  begun.get_future().wait();
  flushed.wait_for(std::chrono::milliseconds(50));  // that it has begun to wait is likely; it is right without, too
  outbox::Outbox outbox({.path = path});
  outbox.remove(std::array{outbox.find("a")->ref()});
  EXPECT_TRUE(flushed.get());
}

}  // namespace
}  // namespace forelock::forward
