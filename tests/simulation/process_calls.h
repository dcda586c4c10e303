// The callers of a process: who is told what becomes of a call for one monitor, and the course of a call for several.
#pragma once

#include "agent/set_course.h"
#include "process.h"

namespace forelock::simulation {

// A call for one monitor: its thread reacts when the step has told everything.
class Process::Caller final : public agent::ContenderListener {
 public:
  Caller(Process& process, std::size_t thread) : process_(process), thread_(thread) {}

  bool begin(lock::ContenderId contender) override;
  lock::Duration granted(lock::ContenderId contender, const lock::Grant& grant) override;
  std::optional<lock::Duration> taken(const linger::Lock& lock) override;
  void refused(lock::ContenderId contender, const lock::Refusal& refusal) override;
  void lost(lock::ContenderId contender, LossReason reason) override;
  void released(lock::ContenderId contender, lock::ReleaseOutcome outcome) override;
  void release_unanswered(lock::ContenderId) override {}
  void record_changed(lock::ContenderId contender, const std::string& record) override;
  void queued(lock::ContenderId, const QueuePosition&) override {}
  void contended(lock::ContenderId, Priority) override {}
  void in_danger(lock::ContenderId contender) override;
  void wake() override {}

 private:
  Process& process_;
  const std::size_t thread_;
};

// A call for several monitors.
class Process::SetCall final : public agent::SetCourse {
 public:
  SetCall(Process& process, std::size_t thread, std::uint64_t id, std::vector<std::size_t> monitors,
          agent::SetCourseOptions options);

  std::uint64_t id() const { return id_; }
  // Its contenders by member; 0 for a member that is not held.
  std::vector<std::uint64_t> held_contenders() const;

  void set_deadline(Instant deadline) { deadline_ = deadline; }
  bool told_held = false;
  bool told_lost = false;

  // --- agent::ContenderListener ---
  bool begin(lock::ContenderId contender) override;
  using agent::SetCourse::begin;
  void wake() override {}

 private:
  void describe(const sets::Command& command, lock::AcquireSpec& spec) override;
  void advanced() override;
  void member_record_changed(const std::string& record) override;

  Process& process_;
  const std::size_t thread_;
  const std::uint64_t id_;
  const std::vector<std::size_t> numbers_;  // of the monitors, by member
  Instant deadline_ = lock::never;
  bool may_wait_ = false;  // the contender that is about to be named
};

}  // namespace forelock::simulation
