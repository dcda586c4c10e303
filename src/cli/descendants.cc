#include "cli/descendants.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "cli/descriptor.h"

namespace forelock::cli {
namespace {

constexpr int most_looks = 32;

// 0 for a zombie, or one that has just gone.
pid_t parent_of(const char* process) {
  const Descriptor file(open(("/proc/" + std::string(process) + "/stat").c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 512> text{};
  if (file.get() < 0 || read(file.get(), text.data(), text.size() - 1) <= 0) return 0;
  // "4711 (a name (with) anything) S 1 …"
  const std::string_view line(text.data());
  const std::size_t name_end = line.rfind(')');
  char state = 'Z';
  int parent = 0;
  if (name_end == std::string_view::npos || std::sscanf(text.data() + name_end + 1, " %c %d", &state, &parent) != 2)
    return 0;
  return state == 'Z' || state == 'X' ? 0 : parent;
}

}  // namespace

void adopt_orphans() {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
}

std::vector<pid_t> descendants_of(pid_t ancestor) {
  std::multimap<pid_t, pid_t> children;
  const std::unique_ptr<DIR, int (*)(DIR*)> processes(opendir("/proc"), closedir);
  if (!processes) return {};
  while (const dirent* entry = readdir(processes.get())) {
    const pid_t process = std::atoi(entry->d_name);
    if (process <= 0) continue;
    if (const pid_t parent = parent_of(entry->d_name); parent > 0) children.emplace(parent, process);
  }
  std::vector<pid_t> found;
  for (std::size_t next = 0; next <= found.size(); ++next) {
    const auto [first, last] = children.equal_range(next == 0 ? ancestor : found[next - 1]);
    for (auto child = first; child != last; ++child) found.push_back(child->second);
  }
  return found;
}

void kill_descendants(pid_t ancestor) {
  std::set<pid_t> killed;
  for (int look = 0; look < most_looks; ++look) {
    bool found = false;
    for (const pid_t process : descendants_of(ancestor)) {
      if (!killed.insert(process).second) continue;
      kill(process, SIGKILL);
      found = true;
    }
    if (!found) return;
  }
}

}  // namespace forelock::cli
