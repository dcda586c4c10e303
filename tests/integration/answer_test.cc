// Servers, or networks, that keep a session alive and are of no use otherwise.
#include "integration/fixture.h"
#include "support/shared_server.h"
#include "support/tcp_proxy.h"
#include "support/test.h"
#include "support/wait_until.h"

namespace forelock::test {
namespace {

constexpr std::int32_t ping = -2;

std::int32_t number_at(const std::string& bytes, std::size_t offset) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes.at(offset + i));
  return static_cast<std::int32_t>(value);
}

// `client_` goes through a proxy, `other_` does not.
class AnswerTest : public SharedServerTest<> {
 protected:
  AnswerTest() {
    proxy_.set_inspector([this](int connection, TcpProxy::Direction direction, std::string& bytes) {
      return inspect(connection, direction, bytes);
    });
    client_ = std::make_unique<Client>(settings(proxy_.connect_string()));
    EXPECT_TRUE(client_->wait_connected(10s) && other_.wait_connected(10s));
  }

  static Settings settings(const std::string& servers) {
    return settings_for(servers, {{"zookeeper.session.timeout", "2000"}});
  }

  TcpProxy::Verdict inspect(int connection, TcpProxy::Direction direction, std::string& bytes) {
    if (direction == TcpProxy::Direction::to_server) {
      const bool greeting = greeted_ < connection;
      greeted_ = std::max(greeted_, connection);
      return {.cut = cut_after_greeting_ && !greeting};
    }
    std::string& stream = streams_[connection];
    stream += bytes;
    bytes.clear();
    while (stream.size() >= 4 && stream.size() >= 4 + static_cast<std::size_t>(number_at(stream, 0))) {
      const std::size_t size = 4 + static_cast<std::size_t>(number_at(stream, 0));
      const bool greeting = answered_ < connection;
      answered_ = std::max(answered_, connection);
      if (greeting || !pings_only_ || number_at(stream, 4) == ping) bytes += stream.substr(0, size);
      stream.erase(0, size);
    }
    return {};
  }

  void expect_useful_again() {
    BlockingWriteLock lock(*client_, "again", "again");
    EXPECT_TRUE(wait_until(
        [&] {
          try {
            return lock.try_lock_for(10s);
          } catch (const Error& problem) {
            EXPECT_TRUE(problem.retryable()) << problem.what();
            return false;
          }
        },
        60s));
  }

  std::atomic<bool> pings_only_{false};
  std::atomic<bool> cut_after_greeting_{false};
  // By the proxy's thread alone.
  int greeted_ = 0;
  int answered_ = 0;
  std::map<int, std::string> streams_;
  TcpProxy proxy_{server_->port()};
  std::unique_ptr<Client> client_;
  Client other_{settings(server_->connect_string())};
};

TEST_F(AnswerTest, ASessionThatAnswersOnlyPingsIsGivenUp) {
  BlockingWriteLock holder(*client_, "hold", "pings");
  holder.lock_with_timeout();
  pings_only_ = true;
  BlockingWriteLock waiter(*client_, "wait", "elsewhere");
  auto outcome = std::async(std::launch::async, [&] { waiter.lock(); });
  EXPECT_TRUE(wait_until([&] { return holder.state() != LockState::held; }));
  EXPECT_EQ(holder.state(), LockState::suspect);
  EXPECT_TRUE(client_->connected());
  EXPECT_TRUE(wait_until([&] { return !holder.healthy(); }));
  ASSERT_EQ(outcome.wait_for(60s), std::future_status::ready);
  EXPECT_THROW(outcome.get(), SessionExpiredException);
  EXPECT_GE(client_->statistics().sessions_expired, 1u);
  BlockingWriteLock next(other_, "next", "pings");
  EXPECT_TRUE(next.try_lock_for(30s)) << "its nodes are still there";
  pings_only_ = false;
  expect_useful_again();
}

// Each new connection renews it at the server, so that it would never end.
TEST_F(AnswerTest, ASessionThatIsThrownOutOfEachConnectionIsGivenUp) {
  BlockingWriteLock holder(*client_, "hold", "thrown-out");
  holder.lock_with_timeout();
  BlockingWriteLock elsewhere(other_, "hold", "waited-for");
  elsewhere.lock_with_timeout();
  BlockingWriteLock waiter(*client_, "wait", "waited-for");
  auto outcome = std::async(std::launch::async, [&] { waiter.lock(); });
  EXPECT_TRUE(wait_until([&] {
    const auto view = Inspector(other_).show("waited-for");
    return view && view->queue.size() == 1;
  }));
  cut_after_greeting_ = true;
  proxy_.cut_connections();
  ASSERT_EQ(outcome.wait_for(60s), std::future_status::ready);
  EXPECT_THROW(outcome.get(), Error);
  EXPECT_TRUE(wait_until([&] { return client_->statistics().sessions_expired >= 1; }, 60s));
  BlockingWriteLock next(other_, "next", "thrown-out");
  EXPECT_TRUE(next.try_lock_for(30s)) << "its nodes are still there";
  cut_after_greeting_ = false;
  expect_useful_again();
}

}  // namespace
}  // namespace forelock::test
