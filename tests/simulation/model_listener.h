// A listener of the model's own tests: writes everything down as text, in order.
#pragma once

#include "coordination/session.h"
#include "support/standard.h"

namespace forelock::model {

class Listener final : public coordination::SessionListener {
 public:
  void on_reply(coordination::RequestTag tag, coordination::Reply reply) override {
    log.push_back("reply " + std::to_string(tag) + " " + std::string(name_of(reply.code)));
    replies[tag] = std::move(reply);
  }
  void on_watch(const coordination::WatchEvent& event) override { log.push_back("watch " + event.path); }
  void on_session(const coordination::SessionEvent& event) override {
    static constexpr const char* names[] = {"connected", "disconnected", "expired", "auth_failed"};
    log.emplace_back(names[static_cast<int>(event.kind)]);
  }

  std::vector<std::string> log;
  std::map<coordination::RequestTag, coordination::Reply> replies;
};

}  // namespace forelock::model
