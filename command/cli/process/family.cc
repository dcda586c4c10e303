#include "cli/process/family.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "cli/process/descriptor.h"

namespace forelock::cli {
namespace {

constexpr int most_looks = 32;

}  // namespace

void adopt_orphans() {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
}

bool Family::is_left() {
  return !members().empty();
}

pid_t Family::signal(const std::vector<int>& signals) {
  members();  // before the command's end parts it from its children
  for (const int number : signals) ::kill(-command_, number);
  pid_t refused = 0;
  for (const Process& process : members()) {
    look_for_refusal(process.id, refused);
    if (process.group == command_) continue;  // has them
    for (const int number : signals) ::kill(process.id, number);
  }
  return refused;
}

pid_t Family::kill() {
  members();
  ::kill(-command_, SIGKILL);
  pid_t refused = 0;
  std::set<Process> killed;
  for (int look = 0; look < most_looks; ++look) {
    bool found = false;
    for (const Process& process : members()) {
      if (!killed.insert(process).second) continue;
      look_for_refusal(process.id, refused);
      ::kill(process.id, SIGKILL);
      found = true;
    }
    if (!found) break;
  }
  return refused;
}

// A signal to a group succeeds if one of its members gets it, so each is asked for itself.
void Family::look_for_refusal(pid_t process, pid_t& refused) const {
  if (::kill(process, 0) != 0 && errno == EPERM && refused != command_) refused = process;
}

// False for a zombie, or one that has just gone.
bool Family::read(const char* id, Process& process) {
  process.id = std::atoi(id);
  if (process.id <= 0) return false;
  const Descriptor file(open(("/proc/" + std::string(id) + "/stat").c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 1024> text{};
  if (file.get() < 0 || ::read(file.get(), text.data(), text.size() - 1) <= 0) return false;
  // "4711 (a name (with) anything) S 1 …"
  const std::size_t name_end = std::string_view(text.data()).rfind(')');
  char state = 'Z';
  if (name_end == std::string_view::npos ||
      std::sscanf(text.data() + name_end + 1,
                  " %c %d %d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu", &state,
                  &process.parent, &process.group, &process.started) != 4)
    return false;
  return state != 'Z' && state != 'X';
}

const std::set<Family::Process>& Family::members() {
  std::multimap<pid_t, Process> children;
  std::set<Process> found;
  std::vector<Process> roots;
  const std::unique_ptr<DIR, int (*)(DIR*)> processes(opendir("/proc"), closedir);
  while (const dirent* entry = processes ? readdir(processes.get()) : nullptr) {
    Process process;
    if (!read(entry->d_name, process)) continue;
    children.emplace(process.parent, process);
    if (process.id == command_ || process.group == command_ || seen_.contains(process) ||
        (all_descendants_ && process.parent == getpid()))
      roots.push_back(process);
  }
  while (!roots.empty()) {
    const Process process = roots.back();
    roots.pop_back();
    if (!found.insert(process).second) continue;
    const auto [first, last] = children.equal_range(process.id);
    for (auto child = first; child != last; ++child) roots.push_back(child->second);
  }
  return seen_ = std::move(found);
}

}  // namespace forelock::cli
