#include "integration/drain_replays.h"

#include "integration/dead_letters.h"

namespace forelock::test {

void ReplayRecord::event(Event event, const drain::StoredLetter& letter, const std::string& message) {
  const std::lock_guard hold(mutex_);
  events_.emplace_back(event, letter.letter.id);
  messages_[letter.letter.id] = message;
}

std::vector<std::string> ReplayRecord::ids(Event event) const {
  const std::lock_guard hold(mutex_);
  std::vector<std::string> ids;
  for (const auto& [what, id] : events_) {
    if (what == event) ids.push_back(id);
  }
  return ids;
}

std::string ReplayRecord::message(const std::string& id) const {
  const std::lock_guard hold(mutex_);
  const auto found = messages_.find(id);
  return found == messages_.end() ? "" : found->second;
}

drain::TryResult ExampleTarget::operator()(const drain::StoredLetter& letter, WriteLock&, std::stop_token) const {
  {
    const std::lock_guard hold(shared_->mutex);
    shared_->ids.push_back(letter.letter.id);
  }
  if (letter.letter.type == "poison") return {drain::TryOutcome::failed, "it does not go down"};
  if (letter.letter.type == "later") return {drain::TryOutcome::later, "not yet"};
  return {drain::TryOutcome::done, ""};
}

std::vector<std::string> ExampleTarget::ids() const {
  const std::lock_guard hold(shared_->mutex);
  return shared_->ids;
}

DeadLetter letter_of_type(const std::string& type, const std::string& id, const std::string& monitor) {
  DeadLetter letter = example_letter(id, monitor);
  letter.type = type;
  return letter;
}

drain::ReplayReport DrainReplayTest::replay(const drain::LetterTarget& target, const drain::ReplayOptions& options) {
  Client client(settings());
  const auto store = given_->open();
  return drain::Replayer(client, *store, target, record_).run(options, {});
}

}  // namespace forelock::test
