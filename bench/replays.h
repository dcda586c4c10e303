// A topic full of dead letters for each replay, and the two replays that are compared.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/raw_publisher.h"
#include "forelock/client.h"
#include "forelock/settings.h"
#include "support/test_server.h"

namespace forelock::bench {

class Replays {
 public:
  // `settings`: of the queue and its broker; `dlq.topic` is the beginning of the topics' names. `letters` are replayed,
  // each with `headers`. Starts a ZooKeeper server.
  Replays(Settings settings, std::string bootstrap, int partitions, std::vector<RawLetter> letters,
          RawPublisher::Headers headers);

  // Makes a topic with all the letters, and an empty one for what is done with.
  void fill();
  // With bare librdkafka.
  void replay_raw() const;
  // With drain::Replayer, as `forelock dlq replay` does, and a target that succeeds at once.
  void replay();

 private:
  std::string topic() const { return first_topic_ + "-" + std::to_string(topics_); }

  Settings settings_;
  const std::string first_topic_;
  const std::string bootstrap_;
  const int partitions_;
  const std::vector<RawLetter> letters_;
  const RawPublisher::Headers headers_;
  test::TestServer server_;
  std::unique_ptr<Client> client_;
  int topics_ = 0;
};

}  // namespace forelock::bench
