// People who save articles: requests at random moments, none of which may block a thread while it waits.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <queue>
#include <random>
#include <thread>
#include <vector>

#include "demo/site.h"
#include "demo/wait_log.h"
#include "forelock/async_write_lock.h"

namespace forelock::demo {

// One thread does all of it, however many saves wait. The work begins with the constructor; the destructor takes no new
// saves in, waits until each of those under way has ended, and joins the thread.
class InteractiveLoad {
 public:
  // `lock_class` is foreground, or background for the comparison with one queue. Moments and articles of the saves come
  // from a fixed seed: two runs get the same ones.
  InteractiveLoad(Site& site, WaitLog& log, Priority lock_class);
  ~InteractiveLoad();
  InteractiveLoad(const InteractiveLoad&) = delete;
  InteractiveLoad& operator=(const InteractiveLoad&) = delete;

 private:
  using SaveId = std::uint64_t;

  struct Save {
    std::size_t article = 0;
    std::unique_ptr<AsyncWriteLock> lock;
    ArticleStore::Change change;
  };

  struct Task {
    Clock::time_point due;
    enum class What { arrive, finish, forget } what = What::arrive;
    SaveId save = 0;

    bool operator>(const Task& other) const { return due > other.due; }
  };

  void run();
  // The next task that is due, or nothing when the load is stopped and no save is under way. Waits.
  bool next(Task& task);
  void schedule(const Task& task);

  void arrive(Clock::time_point moment);
  void finish(SaveId id);
  // Runs on the client's dispatcher thread.
  void answered(SaveId id, Clock::time_point asked, const std::exception_ptr& error);

  Site& site_;
  WaitLog& log_;
  const Priority lock_class_;
  std::mt19937 random_;
  SaveId last_save_ = 0;

  std::mutex mutex_;  // guards what follows
  std::condition_variable wake_;
  bool stopping_ = false;
  std::map<SaveId, Save> saves_;
  std::priority_queue<Task, std::vector<Task>, std::greater<>> tasks_;

  std::thread thread_;  // last: uses everything above
};

}  // namespace forelock::demo
