// DeadLetterQueue::replay(): what the machine of replays does not show by itself. The handler's answers, its report,
// the preview, and what happens when things go away meanwhile.
#include <sys/wait.h>
#include <unistd.h>

#include "forelock/forelock.h"
#include "integration/dead_letters.h"
#include "integration/drain_replays.h"
#include "support/log_lines.h"
#include "support/temporary_directory.h"
#include "support/wait_until.h"

namespace forelock::test {
namespace {

using Outcome = ReplayOutcome;

// Compared by what an application decides on.
auto unresolved(const std::string& id, Outcome outcome, const std::string& why) {
  return AllOf(Field(&UnresolvedLetter::id, id), Field(&UnresolvedLetter::outcome, outcome),
               Field(&UnresolvedLetter::why, HasSubstr(why)));
}

class DeadLetterReplayTest : public DrainReplayTest {
 protected:
  Settings queue_settings() const {
    Settings all = settings();
    if (GetParam() == "kafka") all.set("dlq.outbox.path", (directory_.path() / "outbox.db").string());
    return all;
  }
  LogSink log() { return log_.sink(); }
  // The lines about replays.
  std::vector<std::string> lines() const {
    std::vector<std::string> found;
    for (const std::string& line : log_.lines()) {
      if (line.find("replay of the dead letters") != std::string::npos) found.push_back(line);
    }
    return found;
  }
  // Frees a lock as an administrator does.
  void take_away(const std::string& monitor) {
    Client client(settings());
    Inspector inspector(client);
    const auto view = inspector.show(monitor);
    ASSERT_TRUE(view && view->holder && view->holder->node) << monitor << " is not held";
    EXPECT_EQ(inspector.force_release(monitor, *view->holder->node), ForceReleaseResult::released);
  }
  std::string drainer_monitor() const { return given_->open()->drainer_monitor(); }

  TemporaryDirectory directory_;
  LogLines log_;
};

TEST_P(DeadLetterReplayTest, TheHandlerGetsTheLetterAndItsLock) {
  given_->add({example_letter("a1", "A"), example_letter("a2", "A"), example_letter("b1", "B")});
  Client client(settings());
  DeadLetterQueue queue(queue_settings(), log());
  std::vector<std::string> of_a;
  std::atomic<int> wrong = 0;
  const ReplayReport report = queue.replay(client, [&](ReplayAttempt& attempt) {
    const DeadLetter expected = example_letter(attempt.letter.id, attempt.letter.monitor);
    const bool right = attempt.letter.payload == expected.payload && attempt.letter.reason == expected.reason &&
                       attempt.letter.attempts.size() == expected.attempts.size() &&
                       attempt.letter.failed_at == expected.failed_at && attempt.tries == 0 && attempt.lock.healthy() &&
                       attempt.lock.monitor() == attempt.letter.monitor &&
                       attempt.lock.priority() == Priority::background && attempt.lock.fencing_token() > 0 &&
                       !attempt.stop.stop_requested();
    if (!right) ++wrong;
    if (attempt.letter.monitor == "A") of_a.push_back(attempt.letter.id);
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(report.replayed, 3u);
  EXPECT_THAT(report.unresolved, IsEmpty());
  EXPECT_FALSE(report.stopped);
  EXPECT_EQ(report.unsettled, "");
  EXPECT_THAT(of_a, ElementsAre("a1", "a2"));
  EXPECT_THAT(contents().letters, IsEmpty());
  EXPECT_THAT(lines(), ElementsAre(HasSubstr("begins, under token"), HasSubstr("replayed 3, failed 0")));
}

TEST_P(DeadLetterReplayTest, WhatTheHandlerThrowsDecides) {
  given_->add({letter_of_type("good", "a1", "A"), letter_of_type("broken", "b1", "B"),
               letter_of_type("good", "b2", "B"), letter_of_type("busy", "c1", "C"), letter_of_type("good", "c2", "C"),
               letter_of_type("odd", "d1", "D"), letter_of_type("down", "e1", "E"),
               letter_of_type("wrong", "f1", "F")});
  given_->add_record("G", "no letter");
  Client client(settings());
  DeadLetterQueue queue(queue_settings());
  const ReplayReport report = queue.replay(client, [](ReplayAttempt& attempt) {
    const std::string& type = attempt.letter.type;
    if (type == "broken") throw OperationFailure("bad_row", "row 7 is broken", false);
    if (type == "busy") throw OperationFailure("busy", "the index is rebuilt", true);
    if (type == "odd") throw std::runtime_error("oh\nno");
    if (type == "down") throw ConnectionLossException(ErrorCode::connection_loss, "X", "no server", "");
    if (type == "wrong") throw RequestRejectedException(ErrorCode::invalid_argument, "X", "no such path", "");
  });
  EXPECT_EQ(report.replayed, 1u);
  EXPECT_EQ(report.failed, 3u);
  EXPECT_EQ(report.later, 2u);
  EXPECT_EQ(report.skipped, 2u);
  EXPECT_EQ(report.unreadable, 1u);
  EXPECT_THAT(report.unresolved,
              UnorderedElementsAre(unresolved("b1", Outcome::failed, "bad_row: row 7 is broken"),
                                   unresolved("b2", Outcome::skipped, "an earlier letter of its monitor"),
                                   unresolved("c1", Outcome::later, "busy: the index is rebuilt"),
                                   unresolved("c2", Outcome::skipped, "an earlier letter of its monitor"),
                                   unresolved("d1", Outcome::failed, "oh no"),
                                   unresolved("e1", Outcome::later, "connection_loss: no server"),
                                   unresolved("f1", Outcome::failed, "invalid_argument: no such path"),
                                   Field(&UnresolvedLetter::outcome, Outcome::unreadable)));
  EXPECT_EQ(contents().letter("b1").tries, 1u);
  EXPECT_EQ(contents().letter("c1").tries, 0u) << "what is put off is not counted";
  EXPECT_EQ(contents().letter("d1").tries, 1u);
}

TEST_P(DeadLetterReplayTest, ItIsParkedInTheEndAndCanBeReplayedFromThere) {
  given_->add({letter_of_type("poison", "a1", "A"), letter_of_type("good", "a2", "A")});
  Client client(settings());
  DeadLetterQueue queue(queue_settings());
  std::uint32_t tries = 0;
  const auto handler = [&](ReplayAttempt& attempt) {
    if (attempt.letter.type != "poison") return;
    tries = attempt.tries;
    throw std::runtime_error("it does not go down");
  };
  ReplayOptions options;
  options.max_tries = 2;
  EXPECT_EQ(queue.replay(client, handler, options).failed, 1u);
  const ReplayReport second = queue.replay(client, handler, options);
  EXPECT_EQ(tries, 1u);
  EXPECT_EQ(second.replayed, 1u);
  EXPECT_THAT(second.unresolved, ElementsAre(unresolved("a1", Outcome::parked, "it does not go down")));
  options.filter.parked = true;
  EXPECT_EQ(queue
                .replay(
                    client, [](ReplayAttempt&) {}, options)
                .replayed,
            1u);
  EXPECT_THAT(parked().ids(), IsEmpty());
}

TEST_P(DeadLetterReplayTest, ThePreviewChangesNothingAndTheReplayKeepsToTheSameFilter) {
  given_->add({letter_of_type("one", "a1", "A"), letter_of_type("two", "a2", "A"), letter_of_type("two", "b1", "B"),
               letter_of_type("two", "c1", "C")});
  Client client(settings());
  DeadLetterQueue queue(queue_settings());
  ReplayOptions options;
  options.filter.types = {"two"};
  const ReplayPreview all = queue.preview_replay(options);
  EXPECT_EQ(all.letters, 3u);
  EXPECT_EQ(all.overtaken, 1u) << "a1 stands before a2";
  EXPECT_EQ(all.oldest, example_letter("a2").failed_at);
  options.max = 2;
  EXPECT_EQ(queue.preview_replay(options).letters, 2u);
  EXPECT_THAT(contents().ids(), SizeIs(4));
  options.max.reset();
  options.filter.monitors = {"A", "B"};
  EXPECT_EQ(queue
                .replay(
                    client, [](ReplayAttempt&) {}, options)
                .replayed,
            2u);
  EXPECT_THAT(contents().ids(), UnorderedElementsAre("a1", "c1"));
}

TEST_P(DeadLetterReplayTest, TheListOfUnresolvedLettersIsBounded) {
  given_->add({example_letter("a1", "A"), example_letter("a2", "A"), example_letter("a3", "A")});
  Client client(settings());
  DeadLetterQueue queue(queue_settings());
  ReplayOptions options;
  options.max_unresolved = 1;
  const auto report = queue.replay(
      client, [](ReplayAttempt&) { throw OperationFailure("busy", std::string(5000, 'x'), true); }, options);
  EXPECT_THAT(report.unresolved, SizeIs(1));
  EXPECT_LE(report.unresolved.front().why.size(), 1000u);
  EXPECT_EQ(report.unresolved_left_out, 2u);
}

TEST_P(DeadLetterReplayTest, WhoIsAlreadyAtWorkIsNamed) {
  given_->add(example_letter("a1"));
  Client other(settings());
  BlockingWriteLock drainer(other, "dead letters: replay by another", drainer_monitor(), Priority::background);
  drainer.lock_with_timeout();
  Client client(settings());
  DeadLetterQueue queue(queue_settings(), log());
  int calls = 0;
  try {
    queue.replay(client, [&](ReplayAttempt&) { ++calls; });
    FAIL() << "two drainers at once";
  } catch (const InstanceLockException& error) {
    EXPECT_EQ(error.code(), ErrorCode::lock_timeout);
    EXPECT_THAT(error.what(), HasSubstr(other.instance()));
    EXPECT_THAT(error.what(), HasSubstr("dead letters: replay by another"));
    EXPECT_THAT(error.hint(), HasSubstr("forelock show"));
  }
  EXPECT_EQ(calls, 0);
  EXPECT_THAT(lines(), IsEmpty());
}

TEST_P(DeadLetterReplayTest, ALetterWhoseLockIsLostIsNotResolved) {
  given_->add(example_letter("a1", "A"));
  Client client(settings());
  DeadLetterQueue queue(queue_settings());
  const ReplayReport report = queue.replay(client, [&](ReplayAttempt& attempt) {
    take_away("A");
    ASSERT_TRUE(wait_until([&] { return attempt.stop.stop_requested(); })) << "the handler is told";
  });
  EXPECT_EQ(report.replayed, 0u);
  EXPECT_THAT(report.unresolved, ElementsAre(unresolved("a1", Outcome::later, "the lock on A was lost")));
  EXPECT_FALSE(report.stopped);
  EXPECT_THAT(contents().ids(), ElementsAre("a1"));
  EXPECT_EQ(contents().letter("a1").tries, 0u);
}

TEST_P(DeadLetterReplayTest, ItIsStoppedFromOutside) {
  given_->add({example_letter("a1", "A"), example_letter("a2", "A"), example_letter("a3", "A")});
  Client client(settings());
  DeadLetterQueue queue(queue_settings());
  std::stop_source stop;
  const ReplayReport report = queue.replay(
      client,
      [&](ReplayAttempt& attempt) {
        if (attempt.letter.id == "a1") return;
        stop.request_stop();
        EXPECT_TRUE(attempt.stop.stop_requested());
        throw std::runtime_error("interrupted");
      },
      {}, stop.get_token());
  EXPECT_TRUE(report.stopped);
  EXPECT_EQ(report.replayed, 1u);
  EXPECT_EQ(report.failed, 0u) << "that was no failure of the letter's";
  EXPECT_THAT(contents().ids(), ElementsAre("a2", "a3"));
  EXPECT_EQ(contents().letter("a2").tries, 0u);
}

TEST_P(DeadLetterReplayTest, ItIsStoppedWhileNoServerAnswers) {
  given_->add(example_letter("a1"));
  Settings nowhere = queue_settings();
  nowhere.set("zookeeper.servers", "127.0.0.1:1");
  nowhere.set("zookeeper.session.timeout", "120000");  // so long would it wait for a server
  Client client(nowhere);
  DeadLetterQueue queue(queue_settings());
  std::stop_source stop;
  auto replay = std::async(std::launch::async, [&] {
    return queue.replay(
        client, [](ReplayAttempt&) {}, {}, stop.get_token());
  });
  EXPECT_TRUE(wait_until([&] { return !client.last_problem().empty(); }));
  stop.request_stop();
  ASSERT_EQ(replay.wait_for(60s), std::future_status::ready);
  try {
    replay.get();
    FAIL() << "there is no server";
  } catch (const InstanceLockException& error) {
    EXPECT_EQ(error.code(), ErrorCode::cancelled) << error.what();
  }
  EXPECT_THAT(contents().ids(), ElementsAre("a1"));
}

TEST_P(DeadLetterReplayTest, AHandlerMayCloseTheClient) {
  given_->add({example_letter("a1", "A"), example_letter("a2", "A")});
  Client client(settings());
  DeadLetterQueue queue(queue_settings());
  const ReplayReport report = queue.replay(client, [&](ReplayAttempt&) { client.close(); });
  EXPECT_TRUE(report.stopped);
  EXPECT_EQ(report.replayed, 0u);
  EXPECT_THAT(report.unresolved, testing::Contains(unresolved("a1", Outcome::later, "")));
  EXPECT_THAT(contents().ids(), ElementsAre("a1", "a2"));
  EXPECT_THROW(queue.replay(client, [](ReplayAttempt&) {}), RequestRejectedException);
}

TEST_P(DeadLetterReplayTest, WhatCannotBeRightIsRefused) {
  given_->add(example_letter("a1"));
  Client client(settings());
  DeadLetterQueue queue(queue_settings());
  EXPECT_THROW(queue.replay(client, {}), RequestRejectedException);
  ReplayOptions options;
  options.concurrency = 0;
  EXPECT_THROW(queue.replay(
                   client, [](ReplayAttempt&) {}, options),
               RequestRejectedException);
  EXPECT_THAT(contents().ids(), SizeIs(1));
}

TEST_P(DeadLetterReplayTest, AForkedChildIsRefused) {
  Client client(settings());
  DeadLetterQueue queue(queue_settings());
  const pid_t child = fork();
  if (child == 0) {
    try {
      queue.replay(client, [](ReplayAttempt&) {});
    } catch (const RequestRejectedException& error) {
      _exit(error.code() == ErrorCode::forked ? 0 : 2);
    } catch (...) {
      _exit(3);
    }
    _exit(1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

class DeadLetterTopicReplayTest : public DeadLetterReplayTest {};

TEST_P(DeadLetterTopicReplayTest, TheOutboxCanBeMeantWhereKafkaIsConfigured) {
  given_->add(example_letter("in-the-topic"));
  Client client(settings());
  DeadLetterQueue queue(queue_settings());
  ReplayOptions options;
  options.outbox = true;
  EXPECT_EQ(queue.preview_replay(options).letters, 0u);
  EXPECT_EQ(queue
                .replay(
                    client, [](ReplayAttempt&) {}, options)
                .replayed,
            0u);
  EXPECT_EQ(queue.preview_replay().letters, 1u);
}

INSTANTIATE_TEST_SUITE_P(Stores, DeadLetterReplayTest, ::testing::Values("outbox", "kafka"),
                         [](const auto& given) { return given.param; });
INSTANTIATE_TEST_SUITE_P(Stores, DeadLetterTopicReplayTest, ::testing::Values("kafka"),
                         [](const auto& given) { return given.param; });

}  // namespace
}  // namespace forelock::test
