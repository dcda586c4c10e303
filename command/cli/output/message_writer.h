// A MessageWriter writes to a descriptor from a thread of its own: a reader that does not read delays its caller for a
// bounded time, and stops nothing.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace forelock::cli {

// Thread-safe. Texts come out whole and in the order of the calls. What does not fit into the queue is left out, and
// their number is said when there is room again.
class MessageWriter {
 public:
  // Of the standard error stream, for the whole process. Never destroyed.
  static MessageWriter& of_stderr();

  // Where texts go instead of a descriptor; called by the writer's thread, which all signals are kept from.
  struct Outlet {
    std::function<void(std::string_view)> write;       // may block
    std::function<std::string(std::size_t)> left_out;  // says that so many texts are left out
  };

  // Does not own the descriptor, which must stay open as long as the process lives.
  explicit MessageWriter(int descriptor);
  explicit MessageWriter(Outlet outlet);
  // As flush(); a write that blocks is left behind.
  ~MessageWriter();
  MessageWriter(const MessageWriter&) = delete;
  MessageWriter& operator=(const MessageWriter&) = delete;

  // Returns when the text is written, or when the reader has kept it waiting for longest_wait; at once if an earlier
  // text has already taken longer and is still not out. A descriptor that takes nothing (EPIPE, EBADF) swallows
  // it.
  void write(std::string text);
  // Waits until everything is written, not longer for the reader than longest_wait.
  void flush();

  static constexpr std::chrono::milliseconds longest_wait{100};
  // How long the thread may take to begin, on a machine without a processor to spare.
  static constexpr std::chrono::milliseconds longest_start{2000};
  static constexpr std::size_t most_waiting_bytes = 256 * 1024;

 private:
  struct State;

  std::shared_ptr<State> state_;  // shared with the thread, which may outlive this object
};

}  // namespace forelock::cli
