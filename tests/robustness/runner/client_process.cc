#include "robustness/runner/client_process.h"

#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>

#include <string>
#include <utility>

namespace forelock::robustness {
namespace {

// What libfaketime keeps in shared memory for a process with a stepped clock; one that is killed leaves it there.
void forget_clock_of(pid_t process) {
  ::shm_unlink(("/faketime_shm_" + std::to_string(process)).c_str());
  ::sem_unlink(("/faketime_sem_" + std::to_string(process)).c_str());
}

}  // namespace

ClientProcess::ClientProcess(std::string slot, std::string kind, const std::vector<std::uint16_t>& server_ports,
                             Command command, Place place)
    : slot_(std::move(slot)),
      kind_(std::move(kind)),
      command_(std::move(command)),
      place_(std::move(place)),
      wires_(server_ports) {}

std::string ClientProcess::process() const {
  const std::lock_guard guard(mutex_);
  return slot_ + "." + std::to_string(started_);
}

void ClientProcess::start() {
  const std::lock_guard guard(mutex_);
  const std::string name = slot_ + "." + std::to_string(++started_);
  to_end_ = false;
  place_.history.event("process_started").add("target", name);
  child_ = std::make_unique<test::ChildProcess>(command_(*this, name), place_.directory / (slot_ + ".log"));
}

bool ClientProcess::running() {
  const std::lock_guard guard(mutex_);
  return child_ && child_->running();
}

std::optional<pid_t> ClientProcess::id() {
  const std::lock_guard guard(mutex_);
  if (!child_ || !child_->running()) return std::nullopt;
  return child_->id();
}

bool ClientProcess::crashed() {
  const std::lock_guard guard(mutex_);
  return child_ && !to_end_ && !child_->running();
}

void ClientProcess::kill() {
  const std::string name = process();
  const std::lock_guard guard(mutex_);
  to_end_ = true;
  if (!child_ || !child_->running()) return;
  place_.history.event("process_killed").add("target", name);
  signal(SIGKILL);
  child_->wait();
  forget_clock_of(child_->id());
}

void ClientProcess::pause() {
  const std::string name = process();
  const std::lock_guard guard(mutex_);
  place_.excuses.paused(name);
  signal(SIGSTOP);
}

void ClientProcess::resume() {
  const std::string name = process();
  const std::lock_guard guard(mutex_);
  signal(SIGCONT);
  place_.excuses.resumed(name);
}

void ClientProcess::terminate() {
  const std::lock_guard guard(mutex_);
  to_end_ = true;
  if (child_ && child_->running()) ::kill(child_->id(), SIGTERM);
}

bool ClientProcess::quiet() const {
  return std::filesystem::exists(place_.directory / (process() + ".quiet"));
}

// A worker is the leader of its own group soon after its start.
void ClientProcess::signal(int number) {
  if (!child_ || !child_->running()) return;
  if (::kill(-child_->id(), number) != 0) ::kill(child_->id(), number);
}

}  // namespace forelock::robustness
