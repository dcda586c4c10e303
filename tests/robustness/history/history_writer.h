// Writes what one process does into its part of a history: the format is in tests/robustness/README.md.
#pragma once

#include <concepts>

#include "support/standard.h"

namespace forelock::robustness {

class HistoryWriter;

// One event; complete, and written with one call of the system, when this object ends. The time is that of its making,
// if it is not said.
class HistoryEvent {
 public:
  using Clock = std::chrono::steady_clock;

  HistoryEvent(const HistoryWriter& writer, std::string_view name, Clock::time_point at = Clock::now());
  ~HistoryEvent();
  HistoryEvent(HistoryEvent&& other) noexcept;
  HistoryEvent& operator=(HistoryEvent&&) = delete;

  HistoryEvent& add(std::string_view key, std::string_view text);
  template <std::integral Number>
  HistoryEvent& add(std::string_view key, Number number) {
    if constexpr (std::same_as<Number, bool>) return add_literal(key, number ? "true" : "false");
    return add_literal(key, std::to_string(number));
  }

 private:
  HistoryEvent& add_literal(std::string_view key, std::string_view value);

  const HistoryWriter& writer_;
  std::string line_;  // empty: it is another object's
};

// Appends to PROCESS.ndjson in the directory. Thread-safe; several writers may share a file, as a command and its child
// do. What was written survives the process being killed.
class HistoryWriter {
 public:
  // Throws std::system_error.
  HistoryWriter(const std::filesystem::path& directory, const std::string& process, std::string_view kind);
  ~HistoryWriter();
  HistoryWriter(const HistoryWriter&) = delete;
  HistoryWriter& operator=(const HistoryWriter&) = delete;

  HistoryEvent event(std::string_view name) const { return {*this, name}; }
  HistoryEvent event(std::string_view name, HistoryEvent::Clock::time_point at) const { return {*this, name, at}; }
  std::uint64_t next_call() { return ++calls_; }
  const std::string& process() const { return process_; }

 private:
  friend class HistoryEvent;

  const std::string process_;
  std::string who_;  // the keys that every event has, as JSON
  int file_ = -1;
  std::atomic<std::uint64_t> calls_{0};
};

}  // namespace forelock::robustness
