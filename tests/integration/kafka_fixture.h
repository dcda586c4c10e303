#pragma once

#include "forelock/client.h"
#include "forelock/settings.h"
#include "kafka/admin.h"
#include "kafka/record.h"
#include "support/log_lines.h"
#include "support/test.h"
#include "support/test_broker.h"

namespace forelock::test {

// Tests on the one broker of this program, each with topics of its own. A test may kill or pause the broker; the next
// one finds it serving.
class KafkaTest : public ::testing::Test {
 protected:
  using Values = std::vector<std::pair<std::string, std::string>>;

  void SetUp() override;

  static TestBroker& broker();
  // Those of a user of the broker; `values` are under "kafka.".
  static Settings settings(const Values& values = {});
  static Settings settings_for(const std::string& bootstrap, const Values& values = {});

  // A topic of its own. \returns its name.
  static std::string make_topic(std::int32_t partitions = 1, const std::map<std::string, std::string>& config = {});
  static std::string new_topic_name();
};

// What a record is in the topic, according to kcat.
struct WitnessedRecord {
  std::int32_t partition = 0;
  std::int64_t offset = 0;
  std::optional<std::string> key;
  std::optional<std::string> value;
  std::vector<std::pair<std::string, std::string>> headers;
};
std::vector<WitnessedRecord> witness(const std::string& bootstrap, const std::string& topic);

// Runs a program to its end. \returns its output, both streams; throws unless it ends well.
std::string output_of(std::vector<std::string> command);

}  // namespace forelock::test
