// The callers of one engine: what they have asked for and what they were told. Demands that the engine keeps to the
// order of things: granted only who waits, lost only who holds, nothing after forgotten, one holder of a monitor.
#pragma once

#include "engine/bytes.h"
#include "lock/engine.h"

namespace forelock::fuzz {

struct Sent {
  coordination::RequestTag tag = 0;
  coordination::Request request;
};

class Caller final : public lock::EngineOutput {
 public:
  enum class Phase { waiting, held, releasing, done };
  struct Contender {
    std::string monitor;
    std::string guid;
    Phase phase = Phase::waiting;
    bool stepping_aside = false;
    bool forgotten = false;
    lock::Token token = 0;
  };
  // Told of every grant.
  class Judge {
   public:
    virtual void granted(const Contender& contender) = 0;

   protected:
    ~Judge() = default;
  };

  // \param name makes the guids unique. The judge outlives this.
  Caller(std::string name, lock::EngineOptions options, Judge& judge);

  lock::Engine& engine() { return engine_; }
  const lock::Engine& engine() const { return engine_; }
  const std::map<lock::ContenderId, Contender>& contenders() const { return contenders_; }
  // What the engine has sent and nobody has taken yet.
  std::deque<Sent> outbox;

  // One call of the engine's, whichever the bytes say.
  void call(Bytes& bytes, lock::TimePoint now);
  // Gives up whatever is held or waits.
  void give_up(lock::TimePoint now);
  // The engine has been closed, or its session has ended.
  void expect_all_told() const;

  void send(coordination::RequestTag tag, coordination::Request request) override;
  void granted(lock::ContenderId id, const lock::Grant& grant) override;
  void refused(lock::ContenderId id, const lock::Refusal& refusal) override;
  void lost(lock::ContenderId id, LossReason reason) override;
  void released(lock::ContenderId id, lock::ReleaseOutcome outcome) override;
  void queued(lock::ContenderId id, const QueuePosition& position) override;
  void contended(lock::ContenderId id, Priority waiting) override;
  void forgotten(lock::ContenderId id) override;
  void counter_high(const std::string& monitor, std::int64_t number) override;

 private:
  Contender& known(lock::ContenderId id);
  void acquire(Bytes& bytes, lock::TimePoint now);
  lock::ContenderId some(Bytes& bytes) const;

  const std::string name_;
  Judge& judge_;
  lock::ContenderId next_ = 1;
  std::map<lock::ContenderId, Contender> contenders_;
  lock::Engine engine_;
};

inline constexpr std::size_t most_contenders = 24;

}  // namespace forelock::fuzz
