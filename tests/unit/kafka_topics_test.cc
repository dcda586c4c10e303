// How the queue's topics are made, and which settings of those that exist are faults.
#include "kafka/queue_topics.h"
#include "support/test.h"

namespace forelock::kafka {
namespace {

std::vector<std::string> wrong(const TopicSpec& spec, const std::string& setting, const std::string& value) {
  std::map<std::string, std::string> settings = spec.config;
  settings[setting] = value;
  settings["segment.ms"] = "604800000";
  std::vector<std::string> names;
  for (const TopicFault& fault : faults_of(spec, settings)) names.push_back(fault.setting);
  return names;
}

TEST(QueueTopicsTest, NoLetterExpires) {
  const auto topics = queue_topics("T", 6);
  ASSERT_EQ(topics.size(), 3u);
  for (const std::size_t letters : {0u, 1u}) {
    EXPECT_EQ(topics[letters].partitions, 6);
    EXPECT_THAT(topics[letters].config, Contains(Pair("retention.ms", "-1")));
    EXPECT_THAT(topics[letters].config, Contains(Pair("cleanup.policy", "delete")));
  }
  EXPECT_EQ(topics[1].name, "T.parking");
  EXPECT_EQ(topics[2].name, "T.resolved");
  EXPECT_EQ(topics[2].partitions, 1);
  EXPECT_THAT(topics[2].config, Contains(Pair("cleanup.policy", "compact")));
}

TEST(QueueTopicsTest, TheBrokersReplicasInSyncAreNotLowered) {
  for (const TopicSpec& spec : queue_topics("T", 6)) {
    EXPECT_EQ(spec.replication, -1);
    EXPECT_FALSE(spec.config.contains("min.insync.replicas"));
  }
  for (const TopicSpec& spec : queue_topics("T", 6, 2)) EXPECT_FALSE(spec.config.contains("min.insync.replicas"));
  for (const TopicSpec& spec : queue_topics("T", 6, 3)) {
    EXPECT_EQ(spec.replication, 3);
    EXPECT_THAT(spec.config, Contains(Pair("min.insync.replicas", "2")));
  }
}

TEST(QueueTopicsTest, SettingsByWhichLettersGetLost) {
  const TopicSpec letters = queue_topics("T", 6)[0];
  const TopicSpec resolved = queue_topics("T", 6)[2];
  EXPECT_THAT(wrong(letters, "segment.bytes", "1"), IsEmpty());
  EXPECT_THAT(wrong(letters, "retention.ms", "604800000"), ElementsAre("retention.ms"));
  EXPECT_THAT(wrong(letters, "retention.bytes", "1000"), ElementsAre("retention.bytes"));
  EXPECT_THAT(wrong(letters, "cleanup.policy", "compact,delete"), ElementsAre("cleanup.policy"));
  EXPECT_THAT(wrong(letters, "max.message.bytes", "1048588"), ElementsAre("max.message.bytes"));
  EXPECT_THAT(wrong(letters, "max.message.bytes", "100000000"), IsEmpty());
  EXPECT_THAT(wrong(resolved, "cleanup.policy", "delete"), ElementsAre("cleanup.policy"));
  EXPECT_THAT(wrong(resolved, "min.compaction.lag.ms", "0"), ElementsAre("min.compaction.lag.ms"));
  EXPECT_THAT(wrong(resolved, "retention.ms", "604800000"), IsEmpty()) << "what is compacted only does not expire";
}

TEST(QueueTopicsTest, AFaultSaysWhatWhereAndWhatHappens) {
  const TopicSpec letters = queue_topics("T", 6)[0];
  const auto faults = faults_of(letters, {{"retention.ms", "604800000"}});
  ASSERT_EQ(faults.size(), 1u) << "what is not known is no fault";
  EXPECT_THAT(faults[0].text(), HasSubstr("topic T: retention.ms is 604800000, not -1: letters expire"));
  EXPECT_THAT(faults[0].text(), Not(HasSubstr("segment")));
}

}  // namespace
}  // namespace forelock::kafka
