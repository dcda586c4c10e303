// A client that follows requirements 001 to the letter, and does nothing beyond it: it gives up at the first trouble.
#pragma once

#include "checker.h"
#include "model/model_session.h"
#include "plan.h"

namespace forelock::simulation {

class World;

class LiteralClient final : public model::Actor, public coordination::SessionListener {
 public:
  LiteralClient(World& world, const PlannedLiteral& plan, std::size_t index);
  void start();
  bool finished() const { return over_; }

  void fire(std::uint32_t what, std::uint64_t detail) override;
  void on_reply(coordination::RequestTag tag, coordination::Reply reply) override;
  void on_watch(const coordination::WatchEvent& event) override;
  void on_session(const coordination::SessionEvent& event) override;

 private:
  enum What : std::uint32_t { begin, release };
  enum Step : coordination::RequestTag { make_monitor = 1, enqueue, look, take_lock, drop_first, drop_second };

  void submit(Step step, coordination::Request request);
  void examine(const std::vector<std::string>& children);
  void leave();
  void monitor_vanished();

  World& world_;
  const PlannedLiteral& plan_;
  const std::string name_;
  model::ModelSession* session_ = nullptr;
  std::string node_;
  std::uint64_t contender_ = 0;
  int rounds_;
  bool made_it_ = false;  // the monitor, in its present round
  bool waiting_ = false;  // stands in the queue and has not taken the lock
  bool over_ = false;
};

}  // namespace forelock::simulation
