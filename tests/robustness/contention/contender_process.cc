#include "robustness/contention/contender_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace forelock::robustness {
namespace {

constexpr int patience_ms = 60'000;

}  // namespace

ContenderProcess::ContenderProcess(std::vector<std::string> settings, const std::filesystem::path& log) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0) {
    throw std::system_error(errno, std::generic_category(), "socketpair");
  }
  socket_ = ends[0];
  fcntl(socket_, F_SETFD, FD_CLOEXEC);
  std::vector<std::string> command = {FORELOCK_CONTENTION_WORKER, std::to_string(ends[1])};
  command.insert(command.end(), std::make_move_iterator(settings.begin()), std::make_move_iterator(settings.end()));
  child_ = std::make_unique<test::ChildProcess>(std::move(command), log);
  close(ends[1]);
}

ContenderProcess::~ContenderProcess() {
  close(socket_);
}

void ContenderProcess::tell(std::string_view order) {
  const std::string line = std::string(order) + "\n";
  static_cast<void>(send(socket_, line.data(), line.size(), MSG_NOSIGNAL));  // an end shows in the answer
}

std::optional<ContenderProcess::State> ContenderProcess::answer() {
  std::size_t end = 0;
  while ((end = unread_.find('\n')) == std::string::npos) {
    pollfd entry{socket_, POLLIN, 0};
    if (poll(&entry, 1, patience_ms) <= 0) return std::nullopt;
    std::array<char, 1024> bytes{};
    const ssize_t received = recv(socket_, bytes.data(), bytes.size(), 0);
    if (received <= 0) return std::nullopt;
    unread_.append(bytes.data(), static_cast<std::size_t>(received));
  }
  State state;
  std::istringstream words(unread_.substr(0, end));
  unread_.erase(0, end + 1);
  for (std::string word; words >> word;) {
    const auto equals = word.find('=');
    state[word.substr(0, equals)] = std::stoll(word.substr(equals + 1));
  }
  return state;
}

}  // namespace forelock::robustness
