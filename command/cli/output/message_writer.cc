#include "cli/output/message_writer.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "base/counted.h"

namespace forelock::cli {
namespace {

// Blocks as long as the reader wants it to. The descriptor may have been made non-blocking by another process that
// shares it.
void write_patiently(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      pollfd polled{descriptor, POLLOUT, 0};
      poll(&polled, 1, -1);
    } else if (errno != EINTR) {
      return;  // nothing is to be done about a descriptor that takes nothing
    }
  }
}

// The threads of a process share its signals: this one must take none.
class BlockAllSignals {
 public:
  BlockAllSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockAllSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace

struct MessageWriter::State {
  explicit State(Outlet where) : outlet(std::move(where)) {}

  void run() {
    std::unique_lock guard(mutex);
    for (;;) {
      added.wait(guard, [this] { return !texts.empty() || ended; });
      if (texts.empty()) return;
      std::string text = std::move(texts.front());
      texts.pop_front();
      waiting_bytes -= text.size();
      if (const std::size_t count = std::exchange(left_out, 0); count > 0) text += outlet.left_out(count);
      writing = true;
      progress.notify_all();
      guard.unlock();
      outlet.write(text);
      guard.lock();
      writing = false;
      ++written;
      if (texts.empty()) late = false;
      progress.notify_all();
    }
  }

  // With `guard` locked. Only the time that the thread spends in a write is the reader's; until it has begun, it waits
  // for a processor.
  void wait_for(std::unique_lock<std::mutex>& guard, std::uint64_t number) {
    std::chrono::steady_clock::duration left = longest_wait;
    while (written < number && !late) {
      if (!writing) {
        late = !progress.wait_for(guard, longest_start, [&] { return writing || written >= number; });
        continue;
      }
      const auto begun = std::chrono::steady_clock::now();
      late = !progress.wait_for(guard, left, [&, before = written] { return written != before; });
      left -= std::min(left, std::chrono::steady_clock::now() - begun);
    }
  }

  const Outlet outlet;
  std::mutex mutex;
  std::condition_variable added;
  std::condition_variable progress;
  std::deque<std::string> texts;
  std::size_t waiting_bytes = 0;
  std::size_t left_out = 0;
  std::uint64_t accepted = 0;
  std::uint64_t written = 0;
  bool started = false;
  bool writing = false;
  bool late = false;  // a text took longer than it may, and something still waits
  bool ended = false;
};

MessageWriter& MessageWriter::of_stderr() {
  static auto* const writer = new MessageWriter(STDERR_FILENO);  // never destroyed: its thread may never return
  return *writer;
}

MessageWriter::MessageWriter(int descriptor)
    : MessageWriter(Outlet{.write = [descriptor](std::string_view text) { write_patiently(descriptor, text); },
                           .left_out =
                               [](std::size_t count) {
                                 return "forelock: " + base::counted(count, "more message is", "more messages are") +
                                        " left out: stderr was not read\n";
                               }}) {}

MessageWriter::MessageWriter(Outlet outlet) : state_(std::make_shared<State>(std::move(outlet))) {}

MessageWriter::~MessageWriter() {
  flush();
  const std::lock_guard guard(state_->mutex);
  state_->ended = true;
  state_->added.notify_all();
}

void MessageWriter::write(std::string text) {
  std::unique_lock guard(state_->mutex);
  if (!state_->started) {
    try {
      const BlockAllSignals block;
      std::thread([state = state_] { state->run(); }).detach();
      state_->started = true;
    } catch (const std::system_error&) {
      return;  // no thread is to be had: rather no message than one that may block
    }
  }
  if (state_->waiting_bytes + text.size() > most_waiting_bytes) {
    ++state_->left_out;
    return;
  }
  state_->waiting_bytes += text.size();
  state_->texts.push_back(std::move(text));
  const std::uint64_t number = ++state_->accepted;
  state_->added.notify_all();
  if (!state_->late) state_->wait_for(guard, number);
}

void MessageWriter::flush() {
  std::unique_lock guard(state_->mutex);
  state_->late = false;  // a reader that was slow once gets its time again
  if (state_->started) state_->wait_for(guard, state_->accepted);
}

}  // namespace forelock::cli
