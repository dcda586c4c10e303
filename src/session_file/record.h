// A record of the ZooKeeper sessions of a process, so that its successor can end them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace forelock::session_file {

struct RecordedSession {
  std::string ensemble;  // whose session it is: servers and chroot, without control characters
  std::int64_t id = 0;
  std::array<char, 16> password{};  // never shown

  bool operator==(const RecordedSession&) const = default;
};

struct Record {
  std::string boot;   // during which the machine's run it was written; one word
  std::string place;  // the file that it was written to, which a copy is not; one word
  std::vector<RecordedSession> sessions;

  bool operator==(const Record&) const = default;
};

inline constexpr std::size_t most_sessions = 64;
inline constexpr std::size_t longest_ensemble = 4096;
// A larger file is none of ours.
inline constexpr std::size_t largest_record = std::size_t{512} * 1024;

// Lines of text, with a sum over them in the last one.
std::string to_text(const Record& record);

enum class RecordState {
  whole,
  empty,
  torn,    // ours, but what it says is not what was written: nothing of it may be used
  foreign  // not ours, or of a later version: it may not be written over
};

struct ReadRecord {
  RecordState state = RecordState::empty;
  Record record;  // if it is whole
};

// Zeros alone are torn too: what a crash of the machine may leave of a file.
ReadRecord read_record(std::string_view text);

}  // namespace forelock::session_file
