// A server that has too much to do answers some requests with "not done, ask again" (ZooKeeper 3.9).
#include "integration/fixture.h"
#include "support/shared_server.h"
#include "support/tcp_proxy.h"
#include "support/test.h"
#include "support/wait_until.h"

namespace forelock::test {
namespace {

std::string number(std::int32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(static_cast<std::uint32_t>(value) >> shift);
  return bytes;
}

std::int32_t int_at(const std::string& bytes, std::size_t offset) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes.at(offset + i));
  return static_cast<std::int32_t>(value);
}

// In its place the server gets a question that changes nothing, whose answer becomes that of one that throttles.
class ThrottlingProxy {
 public:
  explicit ThrottlingProxy(std::uint16_t port) : proxy_(port) {
    proxy_.set_inspector([this](int connection, TcpProxy::Direction direction, std::string& bytes) {
      const bool up = direction == TcpProxy::Direction::to_server;
      Stream& stream = (up ? up_ : down_)[connection];
      stream.bytes += std::exchange(bytes, {});
      while (stream.bytes.size() >= 4 && stream.bytes.size() >= 4 + size_of(stream)) {
        std::string packet = stream.bytes.substr(0, 4 + size_of(stream));
        stream.bytes.erase(0, packet.size());
        if (std::exchange(stream.greeted, true)) up ? throttle(packet, connection) : answer(packet, connection);
        bytes += packet;
      }
      return TcpProxy::Verdict{};
    });
  }

  std::string connect_string() const { return proxy_.connect_string(); }
  void set_percent(unsigned percent) { percent_ = percent; }
  int throttled() const { return count_; }

 private:
  struct Stream {
    std::string bytes;
    bool greeted = false;
  };
  static std::size_t size_of(const Stream& stream) { return static_cast<std::size_t>(int_at(stream.bytes, 0)); }

  void throttle(std::string& packet, int connection) {
    constexpr std::int32_t exists = 3;
    constexpr std::int32_t close = -11;
    const std::int32_t xid = int_at(packet, 4);
    if (xid < 0 || int_at(packet, 8) == close || luck_() % 100 >= percent_) return;
    const std::string question = number(xid) + number(exists) + number(1) + "/" + '\0';
    packet = number(static_cast<std::int32_t>(question.size())) + question;
    under_way_.insert({connection, xid});
    ++count_;
  }
  void answer(std::string& packet, int connection) {
    constexpr std::int32_t throttled = -127;
    if (under_way_.erase({connection, int_at(packet, 4)}) == 0) return;
    packet = number(16) + packet.substr(4, 12) + number(throttled);
  }

  std::map<int, Stream> up_;
  std::map<int, Stream> down_;
  std::set<std::pair<int, std::int32_t>> under_way_;
  std::mt19937 luck_{4};
  std::atomic<unsigned> percent_{30};
  std::atomic<int> count_{0};
  TcpProxy proxy_;
};

class ThrottledTest : public SharedServerTest<> {
 protected:
  ThrottlingProxy proxy_{server_->port()};
};

TEST_F(ThrottledTest, LocksAreHadWithinTheirTimeOut) {
  for (int i = 0; i < 4; ++i) {  // the first requests are the set-up's
    Client client(settings_for(proxy_.connect_string() + "/throttled" + std::to_string(i)));
    for (int section = 0; section < 3; ++section) {
      BlockingWriteLock lock(client, "throttled", "P1");
      EXPECT_NO_THROW(lock.lock_with_timeout());
      EXPECT_NO_THROW(lock.unlock_or_throw());
    }
    EXPECT_EQ(client.statistics().sessions_expired, 0u);
  }
  EXPECT_GT(proxy_.throttled(), 4);
  EXPECT_TRUE(wait_until([] { return ephemeral_nodes(*server_).empty(); }));
}

TEST_F(ThrottledTest, AGuardedWriteThatWasNotDoneMayBeRepeated) {
  Client client(settings_for(proxy_.connect_string()));
  BlockingWriteLock lock(client, "throttled", "P2");
  lock.lock_with_timeout();
  proxy_.set_percent(100);
  try {
    lock.write_guarded({CreateNode{"/written", ""}});
    ADD_FAILURE() << "it was throttled";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::overloaded) << error.what();
    EXPECT_TRUE(error.retryable());
  }
  proxy_.set_percent(0);
  EXPECT_NO_THROW(lock.write_guarded({CreateNode{"/written", ""}}));
}

}  // namespace
}  // namespace forelock::test
