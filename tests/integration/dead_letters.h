// Shared by the tests of the dead-letter queue: letters, settings, and readers of a topic or an outbox.
#pragma once

#include "forelock/dead_letter_sink.h"
#include "forelock/settings.h"
#include "outbox/outbox.h"
#include "support/test_broker.h"

namespace forelock::test {

// A letter that could have come from an operation; the same arguments give the same letter.
DeadLetter example_letter(const std::string& id, const std::string& monitor = "P1", std::size_t payload_bytes = 100);
// "id-0", "id-1", … of "P0", "P1", … by turns.
std::vector<DeadLetter> example_letters(int count, int monitors);

// An outbox in this file, this topic, Kafka where `bootstrap` is not empty, and whatever is given.
Settings queue_settings(const std::filesystem::path& outbox, const std::string& bootstrap,
                        const std::string& topic = "MdmDeadLetterQueue",
                        std::initializer_list<std::pair<std::string, std::string>> more = {});

// Makes the topic, and waits until it can be used.
void make_topic(const TestBroker& broker, const std::string& topic, int partitions = 1,
                std::map<std::string, std::string> config = {});

// A record of a topic as kcat shows it.
struct TopicRecord {
  std::int32_t partition = 0;
  std::int64_t offset = 0;
  std::string key;
  std::string value;
  std::vector<std::pair<std::string, std::string>> headers;  // in their order

  // Empty if there is none.
  std::string header(const std::string& name) const;
  std::string id() const { return header("ce_id"); }
};

// Everything that is in the topic now, partition by partition; with one partition, from `offset` on. Throws
// std::runtime_error with what kcat says when it cannot be read.
std::vector<TopicRecord> read_topic(const std::string& bootstrap, const std::string& topic, std::int64_t offset = 0);

// The ids of all rows, in their order.
std::vector<std::string> ids_in(const outbox::Outbox& outbox);
std::vector<std::string> ids_in(const std::filesystem::path& outbox);

// The ids of the records, in their order.
std::vector<std::string> ids_of(const std::vector<TopicRecord>& records);

}  // namespace forelock::test
