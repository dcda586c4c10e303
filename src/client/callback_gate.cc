#include "client/callback_gate.h"

#include <utility>

namespace forelock::client {

void CallbackGate::run_guarded(const char* kind, const std::function<void()>& callback) noexcept {
  const auto tell = [&](const std::string& what) {
    core_.log("error", std::string(kind) + " of the lock on " + name_ + " has thrown" + what);
  };
  try {
    callback();
  } catch (const std::exception& problem) {
    tell(std::string(": ") + problem.what());
  } catch (...) {
    tell("");
  }
}

void CallbackGate::owe(Answer answer) {
  const std::lock_guard guard(mutex_);
  answers_.push_back(std::move(answer));
}

Dispatcher::Call CallbackGate::next_answer(const char* kind, std::shared_ptr<const void> owner) {
  return call(kind, std::move(owner), [this] {
    Answer answer;
    {
      const std::lock_guard guard(mutex_);
      answer = std::move(answers_.front());
      answers_.erase(answers_.begin());
    }
    answer.done(answer.error ? answer.error() : nullptr);
  });
}

std::vector<CallbackGate::Answer> CallbackGate::take_answers() {
  const std::lock_guard guard(mutex_);
  return std::exchange(answers_, {});
}

void CallbackGate::give(const std::vector<Answer>& answers) noexcept {
  for (const Answer& answer : answers) {
    run_guarded(answer.kind, [&] { answer.done(answer.error ? answer.error() : nullptr); });
  }
}

void CallbackGate::close() {
  const std::lock_guard guard(running_);
  closed_ = true;
}

}  // namespace forelock::client
