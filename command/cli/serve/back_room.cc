#include "cli/serve/back_room.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/thread_start.h"
#include "cli/exit_code.h"
#include "cli/failure.h"
#include "cli/output/json_output.h"

namespace forelock::cli {
namespace {

constexpr std::size_t most_questions = 16;

web::Response answer_of(const std::function<web::Response()>& find) {
  try {
    return find();
  } catch (...) {
    const Failure failure = failure_of(std::current_exception());
    const nlohmann::ordered_json json = {
        {"error", {{"code", failure.code}, {"message", failure.message}, {"hint", failure.hint}}}};
    return {failure.exit_code == exit_usage ? 400U : 503U, "application/json", json_text(json) + '\n', false};
  }
}

}  // namespace

BackRoom::~BackRoom() {
  stop();
}

void BackRoom::start() {
  thread_ = base::start_thread("forelock-back", [this] { work(); });
}

bool BackRoom::ask(std::function<web::Response()> find, std::function<void(web::Response)> answer) {
  const std::lock_guard guard(mutex_);
  if (stop_ || questions_.size() >= most_questions) return false;
  questions_.push_back({std::move(find), std::move(answer)});
  changed_.notify_all();
  return true;
}

void BackRoom::begin_stop() {
  const std::lock_guard guard(mutex_);
  stop_ = true;
  changed_.notify_all();
}

void BackRoom::stop() {
  begin_stop();
  if (thread_.joinable()) thread_.join();
}

void BackRoom::work() {
  std::unique_lock guard(mutex_);
  while (true) {
    changed_.wait(guard, [this] { return stop_ || !questions_.empty(); });
    if (stop_) return;
    const Question question = std::move(questions_.front());
    questions_.pop_front();
    guard.unlock();
    question.answer(answer_of(question.find));
    guard.lock();
  }
}

}  // namespace forelock::cli
