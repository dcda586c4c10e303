// An idempotent producer (acks=all) that survives what librdkafka calls fatal errors.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "forelock/client.h"
#include "forelock/settings.h"
#include "kafka/record.h"

namespace forelock::kafka {

// Thread-safe. Has a separate thread for librdkafka's events; callbacks run on it and must be short.
class Producer {
 public:
  using Callback = std::function<void(const Delivery&)>;

  // When unconfirmed records are given up: each by itself, when `message.timeout.ms` have passed; or none of
  // them before the producer ends, so that no record ever overtakes an earlier one of its partition.
  enum class Expiry { each, none };

  // Does not wait for a broker. \throws ConfigurationException for keys or values that librdkafka refuses, with the
  // place where they stand, and for secrets in files that others can read.
  explicit Producer(const Settings& settings, LogSink log = {}, Expiry expiry = Expiry::each);
  // Waits briefly for what is under way; every callback has been called when it returns.
  ~Producer();
  Producer(const Producer&) = delete;
  Producer& operator=(const Producer&) = delete;

  // Hands a record over; `callback` is called exactly once, after the broker's confirmation or when it is certain that
  // none will come in time (the record may be in the topic all the same). \returns false, without having taken it, when
  // librdkafka's queue is full, the producer is being rebuilt, or a record was refused at once and its callback has not
  // told that yet: so none overtakes that one unknowingly. A callback before the client was replaced has been called
  // when this takes records again.
  bool try_send(const Record& record, Callback callback);

  // Sends one record and waits for its delivery; tries again what is worth it, within the timeout.
  Delivery send(const Record& record, std::chrono::milliseconds timeout);

  // Waits until no record is under way. \returns whether none is. Never a proof of delivery: callbacks are.
  bool flush(std::chrono::milliseconds timeout);

  // `message.timeout.ms`, whatever the expiry.
  std::chrono::milliseconds message_timeout() const;

  // What the way to the brokers met in the last minute, for people; empty if nothing.
  std::string last_problem() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace forelock::kafka
