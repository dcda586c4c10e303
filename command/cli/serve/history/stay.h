// A Stay is one hold of a monitor, or one wait for it, as a collector has seen it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "cli/serve/look/sighting.h"
#include "forelock/owner_record.h"

namespace forelock::cli {

struct Stay {
  enum class Kind { hold, wait };

  std::int64_t id = 0;  // unique in its file
  Kind kind = Kind::hold;
  std::string monitor;
  // Of the acquisition, the same while it waits and while it holds: its guid, or of one without a record its node.
  std::string identity;
  std::string who;   // "host/pid/thread"; empty if it left no record
  std::string info;  // what for
  std::optional<Priority> priority;
  std::int64_t token = 0;      // of a hold
  WallTime from{};             // by the servers' clock
  std::optional<WallTime> to;  // when it was gone; nothing while it lasts
  // How it has ended, where that is known: a wait "granted"; a hold "forced" or "unlocked"; either "unseen", which
  // ended while nobody looked, after `to`. Empty if not known.
  std::string outcome;
  std::string reason;           // of "forced" and "unlocked"
  SharedTexts texts = nullptr;  // with the stack of its lock(); null if it left none
  // Of one that lasts and whose monitor may not be read now: the last look before, since when it may have ended.
  std::optional<WallTime> unseen_since = {};

  const std::vector<std::string>& stack() const {
    static const std::vector<std::string> none;
    return texts ? texts->stack : none;
  }
  bool operator==(const Stay& other) const {
    const auto rest = [](const Stay& stay) {
      return std::tie(stay.id, stay.kind, stay.monitor, stay.identity, stay.who, stay.info, stay.priority, stay.token,
                      stay.from, stay.to, stay.unseen_since, stay.outcome, stay.reason, stay.stack());
    };
    return rest(*this) == rest(other);
  }
};

}  // namespace forelock::cli
