// A TopicTarget puts dead letters into another Kafka topic, for a consumer there.
#pragma once

#include <string>

#include "drain/replayer.h"
#include "forelock/client.h"
#include "forelock/settings.h"

namespace forelock::drain {

// A target that produces each letter to `topic` and waits for its delivery: the same id, key and headers as in the
// queue, with the replay counted (`replay_count` in the record, header `dlq_replay_count`). A broker that cannot be
// reached is "later", one that refuses the record "failed".
// \throws RequestRejectedException(invalid_argument) for a topic that is the queue itself or one of its own;
// ConfigurationException.
LetterTarget topic_target(const Settings& settings, const std::string& topic, LogSink log = {});

}  // namespace forelock::drain
