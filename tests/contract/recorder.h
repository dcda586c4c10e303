// A listener that writes down everything it is told, in order.
#pragma once

#include "coordination/session.h"
#include "support/standard.h"

namespace forelock::contract {

struct RecordedReply {
  coordination::RequestTag tag = 0;
  coordination::Reply reply;
};

using Recorded = std::variant<RecordedReply, coordination::WatchEvent, coordination::SessionEvent>;

// Thread-safe.
class Recorder final : public coordination::SessionListener {
 public:
  void on_reply(coordination::RequestTag tag, coordination::Reply reply) override {
    add(RecordedReply{tag, std::move(reply)});
  }
  void on_watch(const coordination::WatchEvent& event) override { add(event); }
  void on_session(const coordination::SessionEvent& event) override { add(event); }

  // Called after each entry is written, on the thread that delivers it; may submit.
  void set_hook(std::function<void(const Recorded&)> hook) {
    std::lock_guard lock(mutex_);
    hook_ = std::move(hook);
  }

  std::vector<Recorded> log() const {
    std::lock_guard lock(mutex_);
    return log_;
  }

  std::optional<coordination::Reply> reply(coordination::RequestTag tag) const {
    std::lock_guard lock(mutex_);
    for (const Recorded& entry : log_) {
      const auto* found = std::get_if<RecordedReply>(&entry);
      if (found != nullptr && found->tag == tag) return found->reply;
    }
    return std::nullopt;
  }

  std::vector<coordination::WatchEvent> watches() const { return all<coordination::WatchEvent>(); }
  std::vector<RecordedReply> replies() const { return all<RecordedReply>(); }
  std::vector<coordination::SessionEvent> session_events() const { return all<coordination::SessionEvent>(); }

  std::size_t count(coordination::SessionEvent::Kind kind) const {
    const auto events = session_events();
    return static_cast<std::size_t>(
        std::count_if(events.begin(), events.end(), [kind](const auto& event) { return event.kind == kind; }));
  }

 private:
  template <typename Kind>
  std::vector<Kind> all() const {
    std::lock_guard lock(mutex_);
    std::vector<Kind> found;
    for (const Recorded& entry : log_) {
      if (const auto* one = std::get_if<Kind>(&entry)) found.push_back(*one);
    }
    return found;
  }

  void add(Recorded entry) {
    std::function<void(const Recorded&)> hook;
    {
      std::lock_guard lock(mutex_);
      log_.push_back(entry);
      hook = hook_;
    }
    if (hook) hook(entry);
  }

  mutable std::mutex mutex_;
  std::vector<Recorded> log_;
  std::function<void(const Recorded&)> hook_;
};

}  // namespace forelock::contract
