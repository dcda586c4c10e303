#include "records/instance.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>

namespace forelock::records {
namespace {

std::string without_slashes(std::string_view text) {
  std::string out(text);
  std::replace(out.begin(), out.end(), '/', '_');
  return out;
}

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0 || name.front() == '\0') return "unknown-host";
  return without_slashes(name.data());
}

std::string own_thread_name() {
  std::array<char, 16> name{};
  return pthread_getname_np(pthread_self(), name.data(), name.size()) == 0 ? name.data() : "";
}

// Threads that were given no name have that of the thread that made them, in the end the main thread's.
std::string main_thread_name() {
  std::ifstream file("/proc/self/comm");
  std::string name;
  std::getline(file, name);
  return name;
}

std::string find_thread_identity() {
  if (gettid() == getpid()) return "main";
  const std::string name = own_thread_name();
  if (!name.empty() && name != main_thread_name()) return without_slashes(name);
  return std::to_string(gettid());
}

}  // namespace

std::string process_identity() {
  return host_name() + '/' + std::to_string(getpid());
}

const std::string& thread_identity() {
  thread_local const std::string identity = find_thread_identity();
  return identity;
}

std::string instance_identity(std::string_view process, std::string_view thread) {
  std::string identity;
  identity.reserve(process.size() + 1 + thread.size());
  identity += process;
  identity += '/';
  const std::size_t begin = identity.size();
  identity += thread;
  std::replace(identity.begin() + static_cast<std::ptrdiff_t>(begin), identity.end(), '/', '_');
  return identity;
}

}  // namespace forelock::records
