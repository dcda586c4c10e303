// A BackRoom answers what needs a disk or a network, one question after the other, on a thread of its own.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "web/site.h"

namespace forelock::cli {

class BackRoom {
 public:
  BackRoom() = default;
  // As stop().
  ~BackRoom();
  BackRoom(const BackRoom&) = delete;
  BackRoom& operator=(const BackRoom&) = delete;

  void start();
  // Any thread. Both are called on its thread; what `find` throws becomes an answer. \returns whether it will be
  // answered: not if too many wait.
  bool ask(std::function<web::Response()> find, std::function<void(web::Response)> answer);

  // What waits is not answered. Does not wait.
  void begin_stop();
  // Waits for the end of its thread, which may be in a question; idempotent.
  void stop();

 private:
  struct Question {
    std::function<web::Response()> find;
    std::function<void(web::Response)> answer;
  };
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Question> questions_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace forelock::cli
