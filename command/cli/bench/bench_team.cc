#include "cli/bench/bench_team.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <stop_token>
#include <system_error>
#include <thread>

#include "cli/exit_code.h"
#include "cli/failure.h"
#include "forelock/client.h"
#include "workload/bench_lock.h"
#include "workload/thread_load.h"

namespace forelock::cli {
namespace {

// A message is small enough for one piece of a socket that keeps them apart.
constexpr std::size_t longest_message = 4096;

void send_message(int channel, const nlohmann::json& message) {
  const std::string text = message.dump();
  send(channel, text.data(), std::min(text.size(), longest_message), MSG_NOSIGNAL);
}

// Null at the end.
nlohmann::json receive_message(int channel) {
  char text[longest_message];
  ssize_t size = -1;
  do {
    size = recv(channel, text, sizeof text, 0);
  } while (size < 0 && errno == EINTR);
  return size <= 0 ? nlohmann::json() : nlohmann::json::parse(text, text + size, nullptr, false);
}

// Asks for a stop when the other end is gone.
class Hangup {
 public:
  explicit Hangup(int channel) : channel_(channel), watcher_([this] { wait(); }) {}
  ~Hangup() {
    shutdown(channel_, SHUT_RDWR);
    watcher_.join();
  }
  Hangup(const Hangup&) = delete;
  Hangup& operator=(const Hangup&) = delete;

  std::stop_token token() const { return stop_.get_token(); }

 private:
  void wait() {
    pollfd poll{.fd = channel_, .events = POLLRDHUP, .revents = 0};
    while (::poll(&poll, 1, -1) < 0 && errno == EINTR) {
    }
    stop_.request_stop();
  }

  const int channel_;
  std::stop_source stop_;
  std::thread watcher_;
};

// What one process does until its channel is closed. Connects for its first job only: before, it was not checked
// whether the namespace may be used.
void serve(int channel, const Settings& settings) {
  nlohmann::json job = receive_message(channel);
  if (!job.is_object()) return;
  Client client(settings);
  Hangup hangup(channel);
  const std::stop_callback close_client(hangup.token(), [&client] { client.close(); });
  for (; job.is_object(); job = receive_message(channel)) {
    try {
      workload::Job load;
      load.monitors = {job.at("monitor")};
      load.seconds = job.at("seconds");
      const workload::JobResult result = workload::run_threads(load, workload::locks_of(client, load), hangup.token());
      send_message(channel, {{"sections", result.sections.size()}, {"seconds", result.seconds}});
    } catch (...) {
      const Failure failure = failure_of(std::current_exception());
      send_message(channel, {{"exit", failure.exit_code}, {"code", failure.code}, {"message", failure.message}});
    }
  }
}

}  // namespace

BenchTeam::BenchTeam(std::size_t processes, const Settings& settings) {
  for (std::size_t i = 0; i < processes; ++i) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
      throw std::system_error(errno, std::generic_category(), "socketpair");
    }
    Descriptor ours(ends[0]);
    Descriptor theirs(ends[1]);
    const pid_t process = fork();
    if (process < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (process == 0) {
      members_.clear();  // the other processes' channels end with the parent alone
      ours.close();
      serve(theirs.get(), settings);
      _exit(0);
    }
    members_.push_back({process, std::move(ours)});
  }
}

BenchTeam::~BenchTeam() {
  end();
}

void BenchTeam::end() noexcept {
  stop();
  for (Member& member : members_) {
    while (member.process > 0 && waitpid(member.process, nullptr, 0) < 0 && errno == EINTR) {
    }
    member.process = -1;
  }
}

void BenchTeam::stop() noexcept {
  for (const Member& member : members_) shutdown(member.channel.get(), SHUT_RDWR);
}

double BenchTeam::sections_per_second(const std::string& monitor, double seconds) {
  for (const Member& member : members_) {
    send_message(member.channel.get(), {{"monitor", monitor}, {"seconds", seconds}});
  }
  double sections = 0;
  double longest = 0;
  for (const Member& member : members_) {
    const nlohmann::json answer = receive_message(member.channel.get());
    if (!answer.is_object() || answer.contains("code")) {
      const bool told = answer.is_object();
      throw FailureException({told ? answer.value("exit", exit_internal) : exit_internal,
                              told ? answer.value("code", "internal") : "internal",
                              told ? answer.value("message", "") : "a process of the benchmark has ended",
                              "forelock doctor",
                              {},
                              false,
                              {}});
    }
    sections += answer.at("sections").get<double>();
    longest = std::max(longest, answer.at("seconds").get<double>());
  }
  return longest > 0 ? sections / longest : 0;
}

}  // namespace forelock::cli
