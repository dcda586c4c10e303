// The spans of lock objects, against the answers of a session that the test gives by hand.
#include "client/lock_slot.h"
#include "client/set_slot.h"
#include "support/test.h"
#include "tree_session.h"

namespace forelock::client {
namespace {

constexpr const char* caller_span = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
constexpr const char* unsampled_span = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";

class KeptSpans final : public Tracer {
 public:
  std::optional<TraceContext> current() override {
    ++asked;
    return caller;
  }
  void ended(const LockSpan& span) override {
    if (fails) throw std::runtime_error("no");
    spans.push_back(span);
  }

  std::optional<TraceContext> caller;
  std::vector<LockSpan> spans;
  int asked = 0;
  bool fails = false;
};

class TraceTest : public ::testing::Test {
 protected:
  TraceTest() {
    session_.connect(1h);
    core_->spans()->start();
  }

  std::shared_ptr<LockSlot> make_traced(const std::string& monitor, const std::string& traceparent = {}) {
    LockOptions options;
    options.capture_stack = false;
    options.traceparent = traceparent;
    return std::make_shared<LockSlot>(core_, "test", monitor, Priority::foreground, options);
  }
  std::shared_ptr<LockSlot> hold_traced(const std::string& monitor, const std::string& traceparent = {}) {
    auto slot = make_traced(monitor, traceparent);
    slot->acquire(lock::never, false);
    session_.answer_all();
    EXPECT_TRUE(slot->holds());
    return slot;
  }
  // All that have ended; none will after this.
  const std::vector<LockSpan>& spans() {
    core_->spans()->stop();
    return tracer_->spans;
  }
  std::vector<std::string> outcomes() {
    std::vector<std::string> texts;
    for (const LockSpan& span : spans()) {
      texts.push_back((span.kind == LockSpan::Kind::hold ? "hold " : "acquisition ") + std::string(span.outcome) +
                      (span.failed ? " failed" : ""));
    }
    return texts;
  }

  std::shared_ptr<KeptSpans> tracer_ = std::make_shared<KeptSpans>();
  std::shared_ptr<ClientCore> core_ = std::make_shared<ClientCore>(Settings(), LogSink(), LogDetail::normal, tracer_);
  TreeSession session_{*core_};
};

TEST_F(TraceTest, AnAcquisitionAndItsHoldAreSpansOfTheirCaller) {
  tracer_->caller = TraceContext::parse(caller_span);
  const auto slot = hold_traced("P");
  const std::int64_t token = slot->token();
  const auto within = TraceContext::parse(slot->traceparent());
  slot->release({});
  session_.answer_all();
  EXPECT_EQ(slot->traceparent(), "");
  ASSERT_THAT(outcomes(), ElementsAre("acquisition granted", "hold released"));
  const LockSpan& acquisition = spans()[0];
  const LockSpan& hold = spans()[1];
  for (const LockSpan& span : spans()) {
    EXPECT_EQ(span.context.trace_id, tracer_->caller->trace_id);
    EXPECT_EQ(span.parent_span, tracer_->caller->span_id);
    EXPECT_EQ(span.token, token);
    EXPECT_EQ(span.monitor, "P");
    EXPECT_EQ(span.lock_info, "test");
    EXPECT_EQ(span.priority, Priority::foreground);
    EXPECT_LE(span.begin, span.end);
  }
  EXPECT_NE(acquisition.context.span_id, hold.context.span_id);
  EXPECT_EQ(within, hold.context) << "what is done under the lock belongs to its hold";
  EXPECT_EQ(acquisition.proof, "number");
  EXPECT_EQ(hold.proof, "");
  EXPECT_EQ(acquisition.behind, "");
  EXPECT_LE(acquisition.end, hold.begin + 1ms);
}

TEST_F(TraceTest, WithoutACallerTheAcquisitionBeginsATrace) {
  for (int i = 0; i < 2; ++i) hold_traced("P" + std::to_string(i))->retire();
  session_.answer_all();
  ASSERT_EQ(spans().size(), 4u);
  EXPECT_FALSE(spans()[0].parent_span);
  EXPECT_EQ(spans()[1].parent_span, spans()[0].context.span_id);
  EXPECT_EQ(spans()[1].context.trace_id, spans()[0].context.trace_id);
  EXPECT_NE(spans()[2].context.trace_id, spans()[0].context.trace_id);
}

TEST_F(TraceTest, TheOptionsOfALockGoOverTheTracer) {
  tracer_->caller = TraceContext::parse("00-11111111111111111111111111111111-2222222222222222-01");
  hold_traced("P", caller_span)->retire();
  session_.answer_all();
  EXPECT_EQ(spans().at(0).context.trace_id, TraceContext::parse(caller_span)->trace_id);
  EXPECT_EQ(tracer_->asked, 0);
}

TEST_F(TraceTest, OfATraceThatIsNotSampledThereAreNoSpans) {
  const auto slot = hold_traced("P", unsampled_span);
  EXPECT_EQ(slot->traceparent(), unsampled_span) << "it is handed on";
  slot->retire();
  session_.answer_all();
  EXPECT_TRUE(spans().empty());
}

TEST_F(TraceTest, WhoWaitsIsToldBehindWhom) {
  const auto first = hold_traced("P");
  const auto second = make_traced("P");
  second->acquire(lock::never, false);
  session_.answer_all();
  ASSERT_FALSE(second->holds());
  first->release({});
  session_.answer_all();
  ASSERT_TRUE(second->holds());
  second->retire();
  session_.answer_all();
  ASSERT_THAT(outcomes(), ElementsAre("acquisition granted", "hold released", "acquisition granted", "hold released"));
  EXPECT_EQ(spans()[2].behind, spans()[0].node);
  EXPECT_NE(spans()[2].proof, "");
  EXPECT_NE(spans()[2].node, spans()[0].node);
}

TEST_F(TraceTest, RefusalsSayWhy) {
  const auto holder = hold_traced("P");
  const auto once = make_traced("P");
  once->acquire(lock::never, true);
  const auto late = make_traced("P");
  const auto waiting = late->acquire(now() + 1ms, false);
  session_.answer_all();
  EXPECT_TRUE(late->wait(waiting, now() + 1ms));
  const auto cancelled = make_traced("P");
  cancelled->acquire(lock::never, false);
  EXPECT_TRUE(cancelled->cancel());
  const auto destroyed = make_traced("P");
  destroyed->acquire(lock::never, false);
  session_.answer_all();
  destroyed->retire();
  session_.answer_all();
  EXPECT_THAT(outcomes(), ElementsAre("acquisition granted", "acquisition unavailable", "acquisition timed_out failed",
                                      "acquisition cancelled", "acquisition cancelled"));
  EXPECT_GT(spans()[2].end - spans()[2].begin, 1ms);
  holder->retire();
}

TEST_F(TraceTest, ALossEndsAHold) {
  const auto slot = hold_traced("P");
  session_.disconnect();
  core_->ensemble().use_session(nullptr);
  EXPECT_FALSE(slot->holds());
  EXPECT_THAT(outcomes(), ElementsAre("acquisition granted", "hold session_expired failed"));
}

TEST_F(TraceTest, AClientThatIsClosedEndsThem) {
  const auto slot = hold_traced("P");
  const auto waiting = make_traced("P");
  waiting->acquire(lock::never, false);
  core_->begin_close();
  EXPECT_THAT(outcomes(), ::testing::UnorderedElementsAre("acquisition granted", "hold closed failed",
                                                          "acquisition closed failed"));
}

TEST_F(TraceTest, SteppingAsideEndsAHoldAndBeginsAnAcquisition) {
  const auto slot = hold_traced("P");
  slot->begin_step_aside(lock::never);
  EXPECT_EQ(slot->traceparent(), "");
  session_.answer_all();
  ASSERT_TRUE(slot->holds());
  slot->retire();
  session_.answer_all();
  ASSERT_THAT(outcomes(),
              ElementsAre("acquisition granted", "hold stepped_aside", "acquisition granted", "hold released"));
  for (const LockSpan& span : spans()) EXPECT_EQ(span.context.trace_id, spans()[0].context.trace_id);
  EXPECT_LT(spans()[0].token, spans()[2].token);
}

TEST_F(TraceTest, ASetHasOneSpanForAllMembers) {
  tracer_->caller = TraceContext::parse(caller_span);
  LockOptions options;
  options.capture_stack = false;
  const auto set =
      std::make_shared<SetSlot>(core_, "test", std::vector<std::string>{"b", "a"}, Priority::background, options);
  set->acquire(lock::never, false);
  session_.answer_all();
  ASSERT_TRUE(set->holds());
  EXPECT_EQ(TraceContext::parse(set->traceparent())->trace_id, tracer_->caller->trace_id);
  set->release({});
  session_.answer_all();
  ASSERT_THAT(outcomes(), ElementsAre("acquisition granted", "hold released"));
  EXPECT_EQ(spans()[0].members, 2u);
  EXPECT_EQ(spans()[0].monitor, "a");
  EXPECT_EQ(spans()[0].priority, Priority::background);
  EXPECT_EQ(spans()[0].token, 0);
  EXPECT_EQ(spans()[0].parent_span, tracer_->caller->span_id);
}

TEST_F(TraceTest, ASetThatAsksForItsPlaceSaysIt) {
  session_.write(coordination::Create{"/b", "", coordination::CreateMode::container});
  session_.write(coordination::Create{"/b/privateLock", "another client's", coordination::CreateMode::ephemeral});
  const auto before = make_traced("b");
  before->acquire(lock::never, false);
  session_.answer_all();
  LockOptions options;
  options.capture_stack = false;
  const auto set =
      std::make_shared<SetSlot>(core_, "test", std::vector<std::string>{"b", "a"}, Priority::foreground, options);
  set->on_queued([](const QueuePosition&, const std::string&) {});
  set->acquire(lock::never, false);
  session_.answer_all();
  ASSERT_FALSE(set->holds());
  EXPECT_TRUE(set->cancel());
  session_.answer_all();
  ASSERT_EQ(outcomes().back(), "acquisition cancelled");
  EXPECT_EQ(spans().back().place, 2U);
  before->retire();
  session_.answer_all();
}

TEST(TraceQueueTest, ATracerThatThrowsOrBlocksCostsSpansAlone) {
  const auto tracer = std::make_shared<KeptSpans>();
  std::vector<std::string> warnings;
  SpanQueue queue(tracer, [&](const std::string& message) { warnings.push_back(message); });
  for (std::size_t i = 0; i < SpanQueue::max_waiting + 7; ++i) queue.add({});  // its thread does not run yet
  tracer->fails = true;
  queue.start();
  queue.stop();
  EXPECT_TRUE(tracer->spans.empty());
  EXPECT_THAT(warnings, ::testing::UnorderedElementsAre("the tracer fails, and spans are lost: no",
                                                        "7 spans were dropped: the tracer takes too long"));
  queue.add({});
  EXPECT_TRUE(tracer->spans.empty()) << "after its end nothing is taken";
}

TEST(TraceQueueTest, NobodyIsAskedWithoutATracer) {
  const auto core = std::make_shared<ClientCore>(Settings(), LogSink());
  EXPECT_EQ(core->spans(), nullptr);
  LockSlot slot(core, "test", "P", Priority::foreground, {});
  EXPECT_EQ(slot.traceparent(), "");
}

}  // namespace
}  // namespace forelock::client
