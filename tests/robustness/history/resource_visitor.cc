#include "robustness/history/resource_visitor.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace forelock::robustness {

ResourceVisitor::ResourceVisitor(const std::filesystem::path& socket_path, std::string process)
    : process_(std::move(process)) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_path.native().size() >= sizeof(address.sun_path)) {
    throw std::system_error(ENAMETOOLONG, std::generic_category(), socket_path.string());
  }
  std::memcpy(address.sun_path, socket_path.c_str(), socket_path.native().size());
  connection_ = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (connection_ >= 0 && connect(connection_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) {
    return;
  }
  const int error = errno;
  close(connection_);
  throw std::system_error(error, std::generic_category(), "resource");
}

ResourceVisitor::~ResourceVisitor() {
  close(connection_);
}

bool ResourceVisitor::enter(const RecordedCall& call, std::int64_t token) {
  return ask("enter " + process_ + " " + std::to_string(call.number()) + " " + call.monitor() + " " +
             std::to_string(token));
}

bool ResourceVisitor::leave() {
  return ask("leave");
}

bool ResourceVisitor::ask(std::string_view request) {
  char answer[16];
  ssize_t received = -1;
  if (send(connection_, request.data(), request.size(), MSG_NOSIGNAL) >= 0) {
    do {
      received = recv(connection_, answer, sizeof(answer), 0);
    } while (received < 0 && errno == EINTR);
  }
  if (received <= 0) throw std::system_error(received < 0 ? errno : EPIPE, std::generic_category(), "resource");
  return std::string_view(answer, static_cast<std::size_t>(received)) == "ok";
}

}  // namespace forelock::robustness
