#include "demo/interactive_load.h"

#include <utility>

namespace forelock::demo {

InteractiveLoad::InteractiveLoad(Site& site, WaitLog& log, Priority lock_class)
    : site_(site), log_(log), lock_class_(lock_class), random_(2181) {
  tasks_.push({Clock::now(), Task::What::arrive, 0});
  thread_ = std::thread([this] { run(); });
}

InteractiveLoad::~InteractiveLoad() {
  {
    const std::lock_guard guard(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void InteractiveLoad::run() {
  Task task;
  while (next(task)) {
    switch (task.what) {
      case Task::What::arrive:
        arrive(task.due);
        break;
      case Task::What::finish:
        finish(task.save);
        break;
      case Task::What::forget: {
        std::unique_lock guard(mutex_);
        const auto done = saves_.extract(task.save);
        guard.unlock();  // the lock's destructor is not to run under our mutex: a callback may be waiting for it
        break;
      }
    }
  }
}

bool InteractiveLoad::next(Task& task) {
  std::unique_lock guard(mutex_);
  for (;;) {
    if (stopping_ && saves_.empty()) return false;
    if (tasks_.empty()) {
      wake_.wait(guard);
    } else if (const auto due = tasks_.top().due; due > Clock::now()) {  // a copy: the queue changes while we wait
      wake_.wait_until(guard, due);
    } else {
      task = tasks_.top();
      tasks_.pop();
      if (!stopping_ || task.what != Task::What::arrive) return true;
    }
  }
}

void InteractiveLoad::schedule(const Task& task) {
  const std::lock_guard guard(mutex_);
  tasks_.push(task);
  wake_.notify_all();
}

void InteractiveLoad::arrive(Clock::time_point moment) {
  std::exponential_distribution<double> gap(site_.options.saves);
  const auto until_next = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(gap(random_)));
  schedule({moment + until_next, Task::What::arrive, 0});

  const SaveId id = ++last_save_;
  const std::size_t article = std::uniform_int_distribution<std::size_t>(0, site_.options.articles - 1)(random_);
  AsyncWriteLock* lock = nullptr;
  try {
    auto made = std::make_unique<AsyncWriteLock>(site_.client(id), "Save Content", Site::monitor(article), lock_class_);
    lock = made.get();
    const std::lock_guard guard(mutex_);
    saves_[id] = {article, std::move(made), {}};
  } catch (const Error& error) {
    log_.failed(error.what());
    return;
  }
  const auto asked = Clock::now();
  try {
    lock->acquire([this, id, asked](const std::exception_ptr& error) { answered(id, asked, error); });
  } catch (const Error& error) {
    log_.failed(error.what());
    schedule({Clock::now(), Task::What::forget, id});
  }
}

void InteractiveLoad::answered(SaveId id, Clock::time_point asked, const std::exception_ptr& error) {
  const auto now = Clock::now();
  Task task{now, Task::What::forget, id};
  try {
    if (error) std::rethrow_exception(error);
    const std::lock_guard guard(mutex_);
    Save& save = saves_.at(id);
    log_.granted(Kind::interactive, save.article, now - asked);
    save.change = site_.store.begin(save.article, save.lock->fencing_token());
    task = {now + site_.options.interactive_work, Task::What::finish, id};
  } catch (const InstanceLockException&) {
    log_.timed_out(Kind::interactive);
  } catch (const Error& failure) {
    log_.failed(failure.what());
  }
  schedule(task);
}

void InteractiveLoad::finish(SaveId id) {
  AsyncWriteLock* lock = nullptr;
  {
    const std::lock_guard guard(mutex_);
    Save& save = saves_.at(id);
    site_.store.finish(save.change);
    lock = save.lock.get();
  }
  lock->release([this, id](const std::exception_ptr& error) {
    try {
      if (error) std::rethrow_exception(error);
    } catch (const Error& failure) {
      log_.failed(failure.what());
    }
    schedule({Clock::now(), Task::What::forget, id});
  });
}

}  // namespace forelock::demo
