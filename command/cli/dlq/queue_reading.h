// One look at the whole queue: for `dlq stats` and `dlq watch`.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "cli/output/console.h"
#include "drain/letter_statistics.h"
#include "drain/letter_store.h"
#include "drain/open_store.h"
#include "forelock/client.h"
#include "outbox/outbox.h"

namespace forelock::cli {

struct QueueReading {
  WallTime at{};
  drain::LetterStatistics letters;            // in the place that the filter means
  drain::LetterStatistics parked;             // in the parking place, of those that match
  std::optional<outbox::OutboxDepth> outbox;  // of this machine, whatever the filter; nothing: it cannot be read
  std::string outbox_problem;                 // why not
};

// Reads a queue again and again, and changes nothing. Where the queue is in Kafka it does without an outbox that it may
// not read.
class QueueReader {
 public:
  // \throws ConfigurationException, Error.
  QueueReader(const Settings& settings, drain::StoreKind kind, LogSink log);

  // \throws Error.
  QueueReading read(const drain::LetterFilter& filter);

  const drain::LetterStore& store() const { return *store_; }
  nlohmann::ordered_json json_of(const QueueReading& reading) const;
  // Of this machine's outbox alone: what is left to be read where Kafka is away. Never throws: QueueReading's
  // `outbox_problem`.
  static QueueReading read_outbox(const Settings& settings, const LogSink& log);
  // {"outbox"}, or {"outbox","outbox_problem"}.
  static nlohmann::ordered_json outbox_json(const Settings& settings, const QueueReading& reading);
  std::string text_of(const QueueReading& reading, const Console& console) const;

 private:
  std::string outbox_line(const QueueReading& reading) const;

  const Settings settings_;
  const drain::StoreKind kind_;
  std::unique_ptr<drain::LetterStore> store_;
  const LogSink log_;
};

}  // namespace forelock::cli
