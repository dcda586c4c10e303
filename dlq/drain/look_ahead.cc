#include "drain/look_ahead.h"

#include <iterator>
#include <utility>

namespace forelock::drain {

std::size_t LookAhead::size_of(const StoredLetter& letter) {
  // The record, once as it is stored and once taken apart, and the containers around it.
  constexpr std::size_t overhead = 1024;
  return 2 * letter.record.size() + overhead;
}

bool LookAhead::has_room_for(const StoredLetter& letter) const {
  return bytes_ == 0 || (letters_ < max_letters && bytes_ + size_of(letter) <= max_bytes);
}

void LookAhead::add(StoredLetter letter) {
  bytes_ += size_of(letter);
  ++letters_;
  Line& line = lines_[letter.letter.monitor];
  if (!line.busy && line.waiting.empty()) ready_.push_back(letter.letter.monitor);
  line.waiting.push_back(std::move(letter));
}

std::optional<StoredLetter> LookAhead::take() {
  if (ready_.empty()) return std::nullopt;
  Line& line = lines_.at(ready_.front());
  ready_.pop_front();
  StoredLetter letter = std::move(line.waiting.front());
  line.waiting.pop_front();
  line.busy = true;
  --letters_;
  return letter;
}

void LookAhead::finish(const StoredLetter& taken) {
  bytes_ -= size_of(taken);
  const auto line = lines_.find(taken.letter.monitor);
  line->second.busy = false;
  if (line->second.waiting.empty()) {
    lines_.erase(line);
  } else {
    ready_.push_back(taken.letter.monitor);
  }
}

std::vector<StoredLetter> LookAhead::block(const StoredLetter& taken) {
  bytes_ -= size_of(taken);
  const auto line = lines_.find(taken.letter.monitor);
  std::vector<StoredLetter> behind(std::make_move_iterator(line->second.waiting.begin()),
                                   std::make_move_iterator(line->second.waiting.end()));
  lines_.erase(line);
  for (const StoredLetter& letter : behind) bytes_ -= size_of(letter);
  letters_ -= behind.size();
  blocked_.insert(taken.letter.monitor);
  return behind;
}

}  // namespace forelock::drain
