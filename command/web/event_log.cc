#include "web/event_log.h"

#include <charconv>
#include <utility>

namespace forelock::web {

EventLog::EventLog(std::string run, std::size_t most_events, std::size_t most_bytes)
    : run_(std::move(run)), most_events_(most_events), most_bytes_(most_bytes) {}

void EventLog::add(const Event& event) {
  texts_.push_back(text_of(event, ++last_));
  bytes_ += texts_.back().size();
  while (texts_.size() > most_events_ || bytes_ > most_bytes_) {
    bytes_ -= texts_.front().size();
    texts_.pop_front();
  }
}

std::string EventLog::text_of(const Event& event, std::uint64_t number) const {
  return "id: " + run_ + '-' + std::to_string(number) + "\nevent: " + event.name + "\ndata: " + event.data + "\n\n";
}

std::optional<std::uint64_t> EventLog::number_of(std::string_view id) const {
  if (!id.starts_with(run_) || id.size() <= run_.size() + 1 || id[run_.size()] != '-') return std::nullopt;
  const std::string_view digits = id.substr(run_.size() + 1);
  std::uint64_t number = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (problem != std::errc() || end != digits.data() + digits.size() || number > last_) return std::nullopt;
  return number;
}

std::optional<std::string> EventLog::after(std::uint64_t& number, std::size_t most) const {
  const std::uint64_t forgotten = last_ - texts_.size();
  if (number < forgotten) return std::nullopt;
  std::string text;
  while (number < last_) {
    const std::string& next = texts_[static_cast<std::size_t>(number - forgotten)];
    if (!text.empty() && text.size() + next.size() > most) break;
    text += next;
    ++number;
  }
  return text;
}

}  // namespace forelock::web
