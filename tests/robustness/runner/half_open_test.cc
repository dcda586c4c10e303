#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/tcp_proxy.h"
#include "support/test.h"

namespace forelock::test {
namespace {

using Direction = TcpProxy::Direction;

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

class Socket {
 public:
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  ~Socket() { close(descriptor_); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  int get() const { return descriptor_; }
  // Waits; what comes, or the error's number.
  std::pair<std::string, int> receive() const {
    char byte = 0;
    const ssize_t received = recv(descriptor_, &byte, 1, 0);
    if (received < 0) return {"", errno};
    return {std::string(&byte, static_cast<std::size_t>(received)), 0};
  }
  bool has_news() const {
    pollfd entry{descriptor_, POLLIN, 0};
    return poll(&entry, 1, 0) != 0;
  }
  bool connects(std::uint16_t port) const {
    const sockaddr_in address = loopback(port);
    return connect(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  }

 private:
  const int descriptor_;
};

Socket new_socket() {
  return Socket(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

class HalfOpenTest : public ::testing::Test {
 protected:
  HalfOpenTest() {
    const sockaddr_in any = loopback(0);
    EXPECT_EQ(bind(listener_.get(), reinterpret_cast<const sockaddr*>(&any), sizeof(any)), 0);
    EXPECT_EQ(listen(listener_.get(), 5), 0);
    sockaddr_in bound{};
    socklen_t size = sizeof(bound);
    EXPECT_EQ(getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&bound), &size), 0);
    proxy_.set_server_port(ntohs(bound.sin_port));
  }
  Socket accepted() const { return Socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)); }

  const Socket listener_ = new_socket();
  TcpProxy proxy_{0};
};

TEST_F(HalfOpenTest, OneEndIsResetAndTheOtherOneHearsNothing) {
  for (const Direction silent : {Direction::to_server, Direction::to_client}) {
    const Socket client = new_socket();
    ASSERT_TRUE(client.connects(proxy_.port()));
    const Socket server = accepted();
    ASSERT_EQ(send(client.get(), "a", 1, 0), 1);
    ASSERT_EQ(server.receive().first, "a");
    const Socket& deaf = silent == Direction::to_server ? server : client;
    const Socket& told = silent == Direction::to_server ? client : server;
    proxy_.half_cut(silent, true);
    EXPECT_EQ(told.receive().second, ECONNRESET);
    EXPECT_EQ(send(deaf.get(), "b", 1, MSG_NOSIGNAL), 1);
    EXPECT_FALSE(deaf.has_news());
    EXPECT_FALSE(new_socket().connects(proxy_.port()));
    proxy_.half_cut(silent, false);
    EXPECT_EQ(deaf.receive().second, ECONNRESET);
  }
  const Socket next = new_socket();
  ASSERT_TRUE(next.connects(proxy_.port()));
  const Socket server = accepted();
  ASSERT_EQ(send(server.get(), "c", 1, 0), 1);
  EXPECT_EQ(next.receive().first, "c");
}

}  // namespace
}  // namespace forelock::test
