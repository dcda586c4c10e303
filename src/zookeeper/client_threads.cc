#include "zookeeper/client_threads.h"

#include <dlfcn.h>
#include <zookeeper/zookeeper.h>

#include <condition_variable>
#include <mutex>
#include <system_error>
#include <utility>

#include "base/thread_start.h"
#include "zookeeper/imported_function.h"

namespace forelock::zookeeper {

namespace {

using CreateThread = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

// Not by its name in this file: where the C client is linked statically, that is the import that is replaced.
CreateThread create_of_system() {
  static const auto create = reinterpret_cast<CreateThread>(dlsym(RTLD_DEFAULT, "pthread_create"));
  return create;
}

}  // namespace

// One thread that waits for its work, or for its end.
struct ClientThreads::Waiting {
  std::mutex mutex;
  std::condition_variable decided;
  bool ends = false;
  Routine routine = nullptr;
  void* argument = nullptr;
  pthread_t thread{};
};

thread_local ClientThreads* ClientThreads::current_ = nullptr;

ClientThreads::ClientThreads() {
  if (create_of_system() == nullptr) return;
  const auto* const client = reinterpret_cast<const void*>(&zookeeper_init2);
  if (!replace_imported_function(client, "pthread_create", reinterpret_cast<void*>(&ClientThreads::create))) return;
  begin_threads();
  current_ = this;
}

ClientThreads::~ClientThreads() {
  current_ = nullptr;
  end_threads();
}

void ClientThreads::begin_threads() {
  // Before there is a thread that would have to be ended for want of memory.
  const std::array all = {std::make_shared<Waiting>(), std::make_shared<Waiting>()};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::shared_ptr<Waiting>& waiting = all[i];
    auto argument = std::make_unique<std::shared_ptr<Waiting>>(waiting);
    if (const int code = create_of_system()(&waiting->thread, nullptr, &ClientThreads::wait, argument.get())) {
      end_threads();
      throw base::NoThread(std::error_code(code, std::generic_category()));
    }
    static_cast<void>(argument.release());
    waiting_[i] = waiting;
  }
}

void ClientThreads::end_threads() {
  for (std::shared_ptr<Waiting>& place : waiting_) {
    const std::shared_ptr<Waiting> waiting = std::exchange(place, nullptr);
    if (!waiting) continue;
    {
      const std::lock_guard guard(waiting->mutex);
      waiting->ends = true;
      waiting->decided.notify_one();
    }
    pthread_join(waiting->thread, nullptr);
  }
}

void* ClientThreads::wait(void* given) {
  const std::unique_ptr<std::shared_ptr<Waiting>> waiting(static_cast<std::shared_ptr<Waiting>*>(given));
  Waiting& self = **waiting;
  std::unique_lock guard(self.mutex);
  self.decided.wait(guard, [&self] { return self.ends || self.routine != nullptr; });
  if (self.routine == nullptr) return nullptr;
  const Routine routine = self.routine;
  guard.unlock();
  return routine(self.argument);
}

bool ClientThreads::take(pthread_t* thread, Routine routine, void* argument) {
  for (std::shared_ptr<Waiting>& place : waiting_) {
    const std::shared_ptr<Waiting> waiting = std::exchange(place, nullptr);
    if (!waiting) continue;
    *thread = waiting->thread;
    const std::lock_guard guard(waiting->mutex);
    waiting->routine = routine;
    waiting->argument = argument;
    waiting->decided.notify_one();
    return true;
  }
  return false;
}

// In the place of pthread_create(), for all calls of the object that the C client is in.
int ClientThreads::create(pthread_t* thread, const pthread_attr_t* attributes, Routine routine, void* argument) {
  if (current_ != nullptr && current_->take(thread, routine, argument)) return 0;
  return create_of_system()(thread, attributes, routine, argument);
}

}  // namespace forelock::zookeeper
