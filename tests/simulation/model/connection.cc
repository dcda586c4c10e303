#include "model/connection.h"

namespace forelock::model {

Connection::Connection(Timeline& timeline, Random& random, const WireOptions& wire, ServerEnd& server,
                       ClientEnd& client)
    : timeline_(timeline), random_(random), wire_(wire), server_(server), client_(&client) {}

Instant Connection::due(Instant& last) {
  Span delay = random_.between(wire_.shortest, wire_.longest);
  if (random_.chance(wire_.hiccup)) delay += random_.between(Span{}, wire_.longest_hiccup);
  last = std::max(last, timeline_.now() + delay);
  return last;
}

void Connection::send(Upstream message) {
  if (client_ == nullptr || doomed_) return;
  const Instant when = due(last_up_);
  up_.emplace_back(when, std::move(message));
  timeline_.at(when, *this, up_due);
}

void Connection::reply(Downstream message) {
  if (client_ == nullptr || doomed_) return;
  const Instant when = due(last_down_);
  down_.emplace_back(when, std::move(message));
  timeline_.at(when, *this, down_due);
}

void Connection::abandon(std::size_t keep) {
  client_ = nullptr;
  down_.clear();
  if (keep < up_.size()) up_.resize(keep);
}

void Connection::doom() {
  doomed_ = true;
  up_.clear();
  held_.clear();
  on_forward.clear();
  waiting.clear();
}

void Connection::forward(Upstream message, Span delay) {
  last_forward_ = std::max(last_forward_, timeline_.now() + delay);
  on_forward.push_back(std::move(message));
  timeline_.at(last_forward_, *this, forward_due);
}

void Connection::hold_requests(Instant until) {
  held_until_ = std::max(held_until_, until);
  timeline_.at(held_until_, *this, held_due);
}

void Connection::poke() {
  drain_up();
  drain_down();
}

void Connection::fire(std::uint32_t what, std::uint64_t /*detail*/) {
  switch (what) {
    case up_due:
      return drain_up();
    case down_due:
      return drain_down();
    case held_due:
      if (held_until_ > timeline_.now()) return;
      while (!doomed_ && !held_.empty()) {
        Upstream message = std::move(held_.front());
        held_.pop_front();
        server_.receive(*this, std::move(message));
      }
      return;
    default:
      if (!doomed_ && !on_forward.empty()) server_.forwarded(*this);
  }
}

void Connection::drain_up() {
  while (!doomed_ && !up_.empty() && up_.front().first <= timeline_.now()) {
    if (up_stalled_ > timeline_.now()) return timeline_.at(up_stalled_, *this, up_due);
    Upstream message = std::move(up_.front().second);
    up_.pop_front();
    const bool held = held_until_ > timeline_.now() && message.kind != Upstream::Kind::ping;
    if (held || (!held_.empty() && message.kind != Upstream::Kind::ping)) {
      held_.push_back(std::move(message));
    } else {
      server_.receive(*this, std::move(message));
    }
  }
}

void Connection::drain_down() {
  while (client_ != nullptr && !down_.empty() && down_.front().first <= timeline_.now()) {
    if (!client_->ready_to_receive()) return;
    if (down_stalled_ > timeline_.now()) return timeline_.at(down_stalled_, *this, down_due);
    Downstream message = std::move(down_.front().second);
    down_.pop_front();
    client_->receive(*this, std::move(message));
  }
}

}  // namespace forelock::model
