// A contender's record, encoded once. The members of a lock set share it and differ by their guids.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "forelock/owner_record.h"

namespace forelock::records {

// Immutable, and so thread-safe.
class ContenderRecord {
 public:
  // `record` has none of the holder's times. Its guid is as long as each of those below, and like them nothing in it is
  // escaped in JSON.
  ContenderRecord(const OwnerRecord& record, std::optional<std::chrono::milliseconds> expected_runtime,
                  std::optional<std::chrono::milliseconds> auto_unlock_after);

  // Of its node in the queue: the record.
  std::string waiting(std::string_view guid) const;
  // Of its node in the foreground's queue, where that is not its own.
  std::string moved(std::string_view guid) const;
  // Of its node where that is made together with privateLock: without what only the holder's record is read for, the
  // stack and the names of the other members of its set.
  std::string claiming(std::string_view guid) const;
  // Of privateLock, for a grant of this moment: the record with the holder's times.
  std::string holding(std::string_view guid) const;

 private:
  // A part of the text, with the comma before it; empty where there is none.
  struct Part {
    std::size_t begin = 0;
    std::size_t end = 0;
  };

  std::string json_;
  Part guid_;
  std::size_t behind_priority_ = 0;
  Part set_members_;
  Part stack_;
  std::optional<std::chrono::milliseconds> expected_runtime_;
  std::optional<std::chrono::milliseconds> auto_unlock_after_;
};

}  // namespace forelock::records
