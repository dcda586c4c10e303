// The numbers of a client and of a queue as prometheus-cpp takes them.
#include "forelock/prometheus.h"
#include "support/test.h"

#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include "forelock/blocking_write_lock.h"
#include "forelock/operation_runner.h"
#include "sample_letter.h"
#include "support/temporary_directory.h"

namespace forelock {
namespace {

std::string text_of(const prometheus::Collectable& metrics) {
  return prometheus::TextSerializer().Serialize(metrics.Collect());
}

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

Settings without_a_server() {
  Settings settings;
  settings.set("zookeeper.servers", "127.0.0.1:1", "test");
  return settings;
}

TEST(Prometheus, NumbersOfAClient) {
  Client client(without_a_server());
  BlockingWriteLock lock(client, "test", "P1");
  EXPECT_THROW(lock.try_lock_for(1ms), Error);
  const std::string text = text_of(ClientMetrics(client));
  EXPECT_TRUE(has_line(text, "forelock_client_connected 0")) << text;
  EXPECT_TRUE(has_line(text, "forelock_client_granted_total 0")) << text;
  EXPECT_TRUE(has_line(text, "forelock_client_refused_total 1")) << text;
  EXPECT_TRUE(has_line(text, "# TYPE forelock_client_refused_total counter")) << text;
  EXPECT_TRUE(has_line(text, "# TYPE forelock_client_wait_seconds histogram")) << text;
  EXPECT_TRUE(has_line(text, "forelock_client_wait_seconds_count{priority=\"background\"} 0")) << text;
  EXPECT_EQ(text.find("P1"), std::string::npos);
}

TEST(Prometheus, RetriesOfOperations) {
  const test::TemporaryDirectory directory;
  Settings settings = without_a_server();
  settings.set({{"elastic.request.retry.count", "2"},
                {"zookeeper.connection.retry", "0"},
                {"zookeeper.foreground.task.timeout", "1"},
                {"dlq.outbox.path", (directory.path() / "outbox.db").string()}});
  DeadLetterQueue queue(settings);
  Client client(settings);
  OperationRunnerOptions options;
  options.backoff = {1ms, 1ms};
  OperationRunner runner(client, queue, options);
  Operation operation;
  operation.type = "test";
  operation.monitor = "P1";
  EXPECT_EQ(runner.run(operation, [](OperationAttempt&) {}).status, OperationResult::Status::dead_lettered);
  EXPECT_EQ(client.statistics().retries, 2u);
  EXPECT_EQ(client.statistics().retries_exhausted, 1u);
  const std::string text = text_of(ClientMetrics(client));
  EXPECT_TRUE(has_line(text, "forelock_client_retries_total 2")) << text;
  EXPECT_TRUE(has_line(text, "forelock_client_retries_exhausted_total 1")) << text;
  for (const char* reason : {"deadline_passed", "session_expired", "removed", "closed"}) {
    const std::string line = std::string("forelock_client_lost_total{reason=\"") + reason + "\"} 0";
    EXPECT_TRUE(has_line(text, line)) << text;
  }
}

TEST(Prometheus, BucketsSumUp) {
  DurationHistogram times;
  times.counts[0] = 3;
  times.counts[2] = 2;
  times.counts.back() = 1;
  times.sum = 2500ms;
  const auto metric = prometheus_detail::of_class(Priority::background, times);
  ASSERT_EQ(metric.label.size(), 1u);
  EXPECT_EQ(metric.label[0].value, "background");
  EXPECT_EQ(metric.histogram.sample_count, 6u);
  EXPECT_DOUBLE_EQ(metric.histogram.sample_sum, 2.5);
  ASSERT_EQ(metric.histogram.bucket.size(), times.counts.size());
  EXPECT_EQ(metric.histogram.bucket[1].cumulative_count, 3u);
  EXPECT_DOUBLE_EQ(metric.histogram.bucket[1].upper_bound, 0.002);
  EXPECT_EQ(metric.histogram.bucket[2].cumulative_count, 5u);
  EXPECT_EQ(metric.histogram.bucket.back().cumulative_count, 6u);
  EXPECT_TRUE(std::isinf(metric.histogram.bucket.back().upper_bound));
}

TEST(Prometheus, NumbersOfAQueue) {
  const test::TemporaryDirectory directory;
  Settings settings;
  settings.set("dlq.outbox.path", (directory.path() / "outbox.db").string(), "test");
  DeadLetterQueue queue(settings);
  queue.accept(test::sample_letter("a"));
  const std::string text = text_of(DeadLetterMetrics(queue));
  EXPECT_TRUE(has_line(text, "forelock_dlq_outbox_rows 1")) << text;
  EXPECT_TRUE(has_line(text, "forelock_dlq_accepted_total 1")) << text;
  EXPECT_TRUE(has_line(text, "forelock_dlq_delivery_failures_total 0")) << text;
}

}  // namespace
}  // namespace forelock
