#include "integration/load.h"

#include "integration/fenced_resource.h"

namespace forelock::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

milliseconds since(steady_clock::time_point begun) {
  return std::chrono::duration_cast<milliseconds>(steady_clock::now() - begun);
}

// What both kinds of lock have in common for the loop.
class LoadLock {
 public:
  virtual ~LoadLock() = default;
  virtual WriteLock& lock() = 0;
  virtual void acquire() = 0;
  virtual void release() = 0;
};

class BlockingLoadLock final : public LoadLock {
 public:
  BlockingLoadLock(Client& client, const LoadOptions& options)
      : lock_(client, options.who, options.monitor, options.priority) {}
  WriteLock& lock() override { return lock_; }
  void acquire() override { lock_.lock_with_timeout(); }
  void release() override { lock_.unlock_or_throw(); }

 private:
  BlockingWriteLock lock_;
};

class AsyncLoadLock final : public LoadLock {
 public:
  AsyncLoadLock(Client& client, const LoadOptions& options)
      : lock_(client, options.who, options.monitor, options.priority) {}
  WriteLock& lock() override { return lock_; }
  void acquire() override {
    wait([this](auto done) { lock_.acquire(std::move(done)); });
  }
  void release() override {
    wait([this](auto done) { lock_.release(std::move(done)); });
  }

 private:
  template <typename Begin>
  void wait(Begin&& begin) {
    auto promise = std::make_shared<std::promise<std::exception_ptr>>();
    auto done = promise->get_future();
    begin([promise](std::exception_ptr error) { promise->set_value(std::move(error)); });
    if (const std::exception_ptr error = done.get()) std::rethrow_exception(error);
  }

  AsyncWriteLock lock_;
};

std::unique_ptr<LoadLock> make_lock(Client& client, const LoadOptions& options) {
  if (options.async) return std::make_unique<AsyncLoadLock>(client, options);
  return std::make_unique<BlockingLoadLock>(client, options);
}

// So that calls that fail at once do not spin.
void rest() {
  std::mutex mutex;
  std::condition_variable changed;
  std::unique_lock guard(mutex);
  changed.wait_for(guard, milliseconds(5));
}

// Whether a caller has to live with this.
bool expected(ErrorCode code) {
  switch (code) {
    case ErrorCode::lock_timeout:
    case ErrorCode::session_expired:
    case ErrorCode::connection_loss:
    case ErrorCode::no_node:
    case ErrorCode::not_held:
      return true;
    default:
      return false;
  }
}

}  // namespace

void LoadResult::add(const LoadResult& other) {
  sections += other.sections;
  cut_short += other.cut_short;
  stale += other.stale;
  for (const auto& [name, count] : other.errors) errors[name] += count;
  late = std::max(late, other.late);
  unlock = std::max(unlock, other.unlock);
}

std::ostream& operator<<(std::ostream& out, const LoadResult& result) {
  out << "sections=" << result.sections << " cut_short=" << result.cut_short << " stale=" << result.stale
      << " late_ms=" << result.late.count() << " unlock_ms=" << result.unlock.count();
  for (const auto& [name, count] : result.errors) out << " " << name << "=" << count;
  return out;
}

bool hold_for(const WriteLock& lock, milliseconds time) {
  const auto until = steady_clock::now() + time;
  const std::stop_token lost = lock.stop_token();
  std::mutex mutex;
  std::condition_variable_any changed;
  std::unique_lock guard(mutex);
  while (lock.healthy()) {
    const auto now = steady_clock::now();
    if (now >= until) return true;
    changed.wait_until(guard, lost, std::min(until, now + milliseconds(1)), [] { return false; });
  }
  return false;
}

LoadResult run_load(Client& client, const LoadOptions& options, const std::stop_token& stop) {
  LoadResult result;
  ResourceVisitor visitor(options.resource, options.who);
  const auto holder = make_lock(client, options);
  const WriteLock& lock = holder->lock();
  const milliseconds timeout = client.settings().timeout(options.priority);
  const auto survive = [&result](const Error& error) {
    if (!expected(error.code())) throw;
    ++result.errors[std::string(name_of(error.code()))];
  };
  while (!stop.stop_requested() && (options.rounds == 0 || result.sections < options.rounds)) {
    auto begun = steady_clock::now();
    try {
      holder->acquire();
    } catch (const Error& error) {
      survive(error);
      result.late = std::max(result.late, since(begun) - timeout);
      rest();
      continue;
    }
    result.late = std::max(result.late, since(begun) - timeout);
    if (!lock.healthy()) {
      ++result.cut_short;
    } else if (!visitor.enter(lock.fencing_token())) {
      ++result.stale;
    } else {
      ++result.sections;
      if (!hold_for(lock, options.hold)) ++result.cut_short;
      visitor.leave();
    }
    begun = steady_clock::now();
    try {
      holder->release();
    } catch (const Error& error) {
      survive(error);
    }
    result.unlock = std::max(result.unlock, since(begun));
  }
  return result;
}

}  // namespace forelock::test
