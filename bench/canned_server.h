// A server for one monitor that answers the lock engine from memory: what the engine costs without network and disk.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>

#include "coordination/reply.h"
#include "coordination/request.h"
#include "lock/engine.h"

namespace forelock::bench {

// Takes the engine's requests and hands the replies back when told to. Only what the protocol does in good weather, and
// no more checks than that needs. Not thread-safe.
class CannedServer final : public lock::EngineOutput {
 public:
  static constexpr std::string_view monitor = "P1";

  // `foreign`: background contenders of other processes that wait all the time.
  explicit CannedServer(std::size_t foreign = 0);

  // Connects the engine and answers until nothing is under way.
  void connect(lock::Engine& engine);
  // Answers what was asked, and what is asked in turn, until nothing is under way.
  void answer_all(lock::Engine& engine);

  // How much was asked and decided so far.
  std::uint64_t requests() const { return requests_; }
  std::uint64_t grants() const { return grants_; }
  std::uint64_t releases() const { return releases_; }
  lock::ContenderId holder() const { return holder_; }
  lock::TimePoint time() const { return time_; }

  void send(coordination::RequestTag tag, coordination::Request request) override;
  void granted(lock::ContenderId contender, const lock::Grant&) override;
  void refused(lock::ContenderId, const lock::Refusal&) override {}
  void lost(lock::ContenderId, LossReason) override {}
  void released(lock::ContenderId, lock::ReleaseOutcome) override { ++releases_; }
  void queued(lock::ContenderId, const QueuePosition&) override {}
  void contended(lock::ContenderId, Priority) override {}
  void forgotten(lock::ContenderId) override {}
  void counter_high(const std::string&, std::int64_t) override {}

 private:
  coordination::Reply apply(const coordination::Request& request);
  coordination::Reply apply(const coordination::Transaction& transaction);
  coordination::Reply apply(const coordination::Create& create);
  coordination::Reply apply(const coordination::Delete& erase);
  coordination::Reply list(bool watch);
  coordination::Stat parent_stat() const;
  void children_changed() { children_event_due_ = std::exchange(children_watched_, false) || children_event_due_; }
  bool remove(const std::string& path);

  std::deque<std::pair<coordination::RequestTag, coordination::Request>> asked_;
  std::deque<std::string> children_;  // names, privateLock apart
  bool locked_ = false;
  std::int32_t lock_version_ = 0;
  std::int64_t created_ = 0;  // children ever created
  std::int64_t zxid_ = 0;
  bool children_watched_ = false;
  bool children_event_due_ = false;
  lock::TimePoint time_{std::chrono::hours(1)};

  std::uint64_t requests_ = 0;
  std::uint64_t grants_ = 0;
  std::uint64_t releases_ = 0;
  lock::ContenderId holder_ = 0;
};

// What a client asks of the engine; the records are as large as real ones.
lock::AcquireSpec typical_spec(Priority priority = Priority::foreground);

}  // namespace forelock::bench
