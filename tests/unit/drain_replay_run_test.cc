// How many letters a replay tries, and what becomes of those that it does not.
#include "drain/outbox_store.h"
#include "drain/replay_run.h"
#include "forelock/client.h"
#include "forelock/settings.h"
#include "outbox/outbox.h"
#include "sample_letter.h"
#include "support/temporary_directory.h"
#include "support/test.h"

namespace forelock::drain {
namespace {

class Silent final : public ReplayObserver {
 public:
  void event(Event, const StoredLetter&, const std::string&) override {}
};

Settings no_server() {
  Settings settings;
  settings.set("zookeeper.servers", "127.0.0.1:1", "test");
  return settings;
}

// Otherwise the replay would wait for ever, as nothing is under way that could give it back.
TEST(ReplayRunTest, ALetterThatIsParkedUntriedDoesNotUseUpMax) {
  const test::TemporaryDirectory directory;
  auto outbox = std::make_unique<outbox::Outbox>(outbox::OutboxOptions{.path = directory.path() / "outbox.db"});
  for (const char* id : {"poison", "good"}) {
    DeadLetter letter = test::sample_letter(id);
    letter.monitor = id;
    outbox->add(letter);
  }
  OutboxStore store(std::move(outbox), "drainer");
  ReplayOptions options;
  options.max = 1;
  options.concurrency = 1;
  for (std::uint32_t i = 0; i < options.max_tries; ++i) store.begin_try(*store.find("poison"));

  Client client(no_server());  // the target takes its locks itself
  Silent observer;
  const AnyTarget target = LockingTarget([](const StoredLetter&, std::stop_token) {
    return TryResult{TryOutcome::done, {}};
  });
  std::stop_source stop;
  auto running = std::async(std::launch::async, [&] {
    return ReplayRun(client, store, target, observer, options).run(stop.get_token(), {});
  });
  EXPECT_EQ(running.wait_for(30s), std::future_status::ready);
  stop.request_stop();
  const ReplayReport report = running.get();
  EXPECT_EQ(report.parked, 1u);
  EXPECT_EQ(report.replayed, 1u);
  EXPECT_EQ(store.find("poison")->state, LetterState::parked);
  EXPECT_FALSE(store.find("good"));
}

}  // namespace
}  // namespace forelock::drain
