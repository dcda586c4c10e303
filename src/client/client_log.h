// A ClientLog passes lines to the host application's log sink, on a separate thread: a blocking sink delays only later
// lines.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>

#include "client/dispatcher.h"
#include "forelock/client.h"

namespace forelock::client {

// Thread-safe. Without a sink it does nothing, and has no thread.
class ClientLog {
 public:
  // Lines that wait for the sink; later ones are dropped and counted.
  static constexpr std::size_t max_waiting = 1000;

  explicit ClientLog(LogSink sink);
  bool has_sink() const { return static_cast<bool>(sink_); }

  void start();
  void write(std::string_view level, std::string_view message);
  // Hands over what waits, then ends the thread. Not from the sink.
  void stop();
  // Lines that the sink has not been given yet.
  std::size_t waiting() {
    const std::lock_guard guard(mutex_);
    return waiting_;
  }
  bool on_this_thread() const { return thread_.on_this_thread(); }

 private:
  void hand_over(std::string level, std::string message);

  const LogSink sink_;
  std::mutex mutex_;
  std::size_t waiting_ = 0;
  std::size_t dropped_ = 0;
  Dispatcher thread_{"forelock-log"};
};

}  // namespace forelock::client
