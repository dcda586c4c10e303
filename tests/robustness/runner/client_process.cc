#include "robustness/runner/client_process.h"

#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

namespace forelock::robustness {
namespace {

// What libfaketime keeps in shared memory for a process with a stepped clock; one that is killed leaves it there.
void forget_clock_of(pid_t process) {
  ::shm_unlink(("/faketime_shm_" + std::to_string(process)).c_str());
  ::sem_unlink(("/faketime_sem_" + std::to_string(process)).c_str());
}

// For who cannot see the file any more: enough for the stack of a crash.
constexpr std::size_t max_last_lines = 60;

std::string last_lines(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::deque<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    lines.push_back("\n  " + line);
    if (lines.size() > max_last_lines) lines.pop_front();
  }
  std::string text;
  for (const std::string& line : lines) text += line;
  return text;
}

std::string end_of(int status) {
  if (!WIFSIGNALED(status)) return "with status " + std::to_string(WEXITSTATUS(status));
  return "by signal " + std::to_string(WTERMSIG(status)) + " (" + strsignal(WTERMSIG(status)) + ")";
}

}  // namespace

ClientProcess::ClientProcess(std::string slot, std::string kind, const std::vector<std::uint16_t>& server_ports,
                             Command command, Place place)
    : slot_(std::move(slot)),
      kind_(std::move(kind)),
      command_(std::move(command)),
      place_(std::move(place)),
      wires_(server_ports, place_.encrypted) {}

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

std::optional<std::string> ClientProcess::crash() {
  const std::string name = process();
  const std::lock_guard guard(mutex_);
  if (!child_ || to_end_ || child_->running()) return std::nullopt;
  return name + " ended by itself, " + end_of(*child_->status()) + "; the last lines of " + file(".log").string() +
         ":" + last_lines(file(".log"));
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
