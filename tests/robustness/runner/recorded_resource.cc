#include "robustness/runner/recorded_resource.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace forelock::robustness {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path) {
  throw std::system_error(errno, std::generic_category(), path.string());
}

}  // namespace

RecordedResource::RecordedResource(std::filesystem::path socket_path, const std::filesystem::path& directory,
                                   const Excuses& excuses)
    : socket_(std::move(socket_path)), excuses_(excuses), history_(directory, "resource", "resource") {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_.native().size() >= sizeof(address.sun_path)) {
    errno = ENAMETOOLONG;
    fail(socket_);
  }
  std::memcpy(address.sun_path, socket_.c_str(), socket_.native().size());
  listener_ = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (listener_ < 0 || bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      listen(listener_, 128) != 0 || pipe2(wake_, O_CLOEXEC) != 0) {
    fail(socket_);
  }
  thread_ = std::thread([this] { run(); });
}

RecordedResource::~RecordedResource() {
  close(wake_[1]);
  thread_.join();
  close(wake_[0]);
  close(listener_);
}

bool RecordedResource::has_met(const std::string& slot) const {
  const std::lock_guard guard(mutex_);
  return met_.contains(slot);
}

std::uint64_t RecordedResource::accepted() const {
  const std::lock_guard guard(mutex_);
  return accepted_;
}

std::uint64_t RecordedResource::overlaps() const {
  const std::lock_guard guard(mutex_);
  return overlaps_;
}

std::optional<RecordedResource::Visit> RecordedResource::inside(const std::string& monitor) const {
  const std::lock_guard guard(mutex_);
  std::optional<Visit> latest;
  for (const auto& [connection, visitor] : visitors_) {
    if (!visitor.visit || visitor.visit->monitor != monitor) continue;
    if (!latest || latest->begun < visitor.visit->begun) latest = visitor.visit;
  }
  return latest;
}

std::set<std::string> RecordedResource::processes_inside() const {
  const std::lock_guard guard(mutex_);
  std::set<std::string> processes;
  for (const auto& [connection, visitor] : visitors_) {
    if (visitor.visit) processes.insert(visitor.visit->process);
  }
  return processes;
}

void RecordedResource::run() {
  while (true) {
    std::vector<pollfd> waiting = {{wake_[0], POLLIN, 0}, {listener_, POLLIN, 0}};
    for (const auto& [connection, visitor] : visitors_) waiting.push_back({connection, POLLIN, 0});
    if (poll(waiting.data(), waiting.size(), -1) < 0) continue;
    if (waiting[0].revents != 0) break;
    for (std::size_t i = 2; i < waiting.size(); ++i) {
      if (waiting[i].revents == 0 || serve(waiting[i].fd)) continue;
      close(waiting[i].fd);
      const std::lock_guard guard(mutex_);
      visitors_.erase(waiting[i].fd);
    }
    if (waiting[1].revents == 0) continue;
    const int connection = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    const std::lock_guard guard(mutex_);
    if (connection >= 0) visitors_.emplace(connection, Visitor{});
  }
  for (const auto& [connection, visitor] : visitors_) close(connection);
}

// False if the connection has ended.
bool RecordedResource::serve(int connection) {
  char buffer[1024];
  const ssize_t got = recv(connection, buffer, sizeof(buffer), 0);
  const std::lock_guard guard(mutex_);
  Visitor& visitor = visitors_.at(connection);
  if (got <= 0) {
    end(visitor, "gone");
    return false;
  }
  const std::string_view reply = answer(visitor, std::string(buffer, static_cast<std::size_t>(got)));
  send(connection, reply.data(), reply.size(), MSG_NOSIGNAL);
  return true;
}

std::string_view RecordedResource::answer(Visitor& visitor, const std::string& request) {
  std::istringstream words(request);
  std::string what;
  words >> what;
  if (what == "leave") {
    const bool put_out = std::exchange(visitor.put_out, false);
    end(visitor, "left");
    return put_out ? "refused" : "ok";
  }
  Visit visit;
  words >> visit.process >> visit.call >> visit.monitor >> visit.token;
  if (what != "enter" || words.fail()) return "what?";
  visit.begun = Clock::now();
  return enter(visitor, std::move(visit));
}

std::string_view RecordedResource::enter(Visitor& visitor, Visit visit) {
  Highest& highest = highest_[visit.monitor];
  const bool again = visit.token == highest.token && visit.process == highest.process;
  const bool refused = visit.token != 0 && visit.token <= highest.token && !again;
  if (!refused) meet(visitor, visit);
  event("access_begin", visit).add("accepted", !refused);
  if (refused) return "refused";
  if (visit.token > highest.token) highest = {visit.token, visit.process};
  ++accepted_;
  met_.insert(visit.process.substr(0, visit.process.rfind('.')));
  visitor.visit = std::move(visit);
  visitor.put_out = false;
  return "ok";
}

void RecordedResource::meet(Visitor& newcomer, const Visit& visit) {
  for (auto& [connection, other] : visitors_) {
    if (&other == &newcomer || !other.visit || other.visit->monitor != visit.monitor) continue;
    // Under one grant nothing excuses two at once.
    const bool one_grant = visit.token != 0 && visit.token == other.visit->token;
    const std::string because =
        one_grant ? "" : excuses_.reason(other.visit->process, visit.monitor, other.visit->begun);
    if (because.empty()) {
      ++overlaps_;
      continue;
    }
    Highest& highest = highest_[visit.monitor];
    if (highest.token == other.visit->token) highest.process.clear();
    end(other, "fenced", because);
    other.put_out = true;
  }
}

void RecordedResource::end(Visitor& visitor, std::string_view how, const std::string& because) {
  if (!visitor.visit) return;
  HistoryEvent ended = event("access_end", *visitor.visit);
  ended.add("accepted", true).add("how", how);
  if (!because.empty()) ended.add("because", because);
  visitor.visit.reset();
}

HistoryEvent RecordedResource::event(std::string_view name, const Visit& visit) const {
  HistoryEvent begun = history_.event(name);
  begun.add("client", visit.process).add("call", visit.call).add("monitor", visit.monitor);
  begun.add("token", std::to_string(visit.token));
  return begun;
}

}  // namespace forelock::robustness
