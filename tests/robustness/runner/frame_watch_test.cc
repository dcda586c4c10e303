// What the runner does to a client's connection: the right packet, and nothing else.
#include "robustness/runner/frame_watch.h"
#include "support/test.h"

namespace forelock::robustness {
namespace {

using Direction = test::TcpProxy::Direction;
using Request = FrameWatch::Request;
using Deed = FrameWatch::Deed;

std::string number(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(value >> shift & 0xFF));
  return bytes;
}
std::string packet(const std::string& body) {
  return number(static_cast<std::uint32_t>(body.size())) + body;
}
std::string request(std::uint32_t id, std::uint32_t operation, std::uint32_t first_part = 0) {
  return packet(number(id) + number(operation) + number(first_part) + "rest");
}
std::string reply(std::uint32_t id) {
  return packet(number(id) + "and what it says");
}

constexpr std::uint32_t create = 1;
constexpr std::uint32_t remove = 2;
constexpr std::uint32_t list = 12;
constexpr std::uint32_t multi = 14;

class FrameWatchTest : public ::testing::Test {
 protected:
  void greet(int proxy, int connection, std::uint32_t session) {
    send(proxy, connection, packet("hello"));
    std::string answer = packet(number(0) + number(4000) + number(0) + number(session) + "password");
    watch_.inspect(proxy, connection, Direction::to_client, answer);
  }
  test::TcpProxy::Verdict send(int proxy, int connection, std::string bytes) {
    const auto verdict = watch_.inspect(proxy, connection, Direction::to_server, bytes);
    passed_ = bytes;
    return verdict;
  }
  test::TcpProxy::Verdict answer(int proxy, int connection, std::string bytes) {
    const auto verdict = watch_.inspect(proxy, connection, Direction::to_client, bytes);
    passed_ = bytes;
    return verdict;
  }
  void set(Request request, Deed deed) {
    watch_.set({request, deed, 300ms, [this] { ++sprung_; }});
  }

  FrameWatch watch_;
  std::string passed_;
  int sprung_ = 0;
};

TEST_F(FrameWatchTest, PassesWholePacketsOnly) {
  greet(0, 1, 7);
  const std::string two = request(1, list) + request(2, list);
  std::string arrived;
  for (const char byte : two) {
    send(0, 1, std::string(1, byte));
    EXPECT_TRUE(passed_.empty() || passed_.size() == two.size() / 2);
    arrived += passed_;
  }
  EXPECT_EQ(arrived, two);
}

TEST_F(FrameWatchTest, KnowsTheSession) {
  EXPECT_EQ(watch_.session(), 0);
  greet(0, 1, 7);
  greet(2, 1, 9);
  EXPECT_EQ(watch_.session(), 9);
}

TEST_F(FrameWatchTest, DropsTheReplyToAClaimAlone) {
  greet(0, 1, 7);
  set(Request::claim, Deed::drop_reply);
  EXPECT_FALSE(send(0, 1, request(1, multi, remove)).cut);
  EXPECT_FALSE(answer(0, 1, reply(1)).cut);
  EXPECT_FALSE(send(0, 1, request(2, multi, create) + request(3, list)).cut);
  EXPECT_EQ(passed_.size(), 2 * request(2, multi, create).size()) << "the request itself arrives";
  EXPECT_EQ(sprung_, 0);
  EXPECT_TRUE(answer(0, 1, reply(2)).cut);
  EXPECT_EQ(sprung_, 1);
  EXPECT_FALSE(send(0, 1, request(4, multi, create)).cut);
  EXPECT_FALSE(answer(0, 1, reply(4)).cut) << "a trap springs once";
}

TEST_F(FrameWatchTest, TakesTheNextRequestWhenTheConnectionHasEnded) {
  greet(0, 1, 7);
  set(Request::release, Deed::drop_reply);
  send(0, 1, request(1, multi, remove));
  greet(1, 1, 7);
  EXPECT_FALSE(answer(1, 1, reply(1)).cut) << "another connection's reply with the same number";
  send(1, 1, request(5, remove));
  EXPECT_TRUE(answer(1, 1, reply(5)).cut);
}

TEST_F(FrameWatchTest, DelaysARequestOrItsReply) {
  greet(0, 1, 7);
  set(Request::listing, Deed::delay_request);
  EXPECT_EQ(send(0, 1, request(1, create)).delay, 0ms);
  EXPECT_EQ(send(0, 1, request(2, list)).delay, 300ms);
  set(Request::creation, Deed::delay_reply);
  EXPECT_EQ(send(0, 1, request(3, create)).delay, 0ms);
  EXPECT_EQ(answer(0, 1, reply(2)).delay, 0ms);
  EXPECT_EQ(answer(0, 1, reply(3)).delay, 300ms);
  EXPECT_EQ(sprung_, 2);
}

TEST_F(FrameWatchTest, ManyConnectionsOfOneProxyLeaveThoseOfAnotherAlone) {
  greet(0, 1, 7);
  const std::string whole = request(1, list);
  send(0, 1, whole.substr(0, 6));
  for (int connection = 1; connection < 200; ++connection) greet(1, connection, 7);
  send(0, 1, whole.substr(6));
  EXPECT_EQ(passed_, whole);
}

std::string record(char type, std::size_t length) {
  std::string bytes{type, 3, 3, static_cast<char>(length >> 8), static_cast<char>(length & 0xFF)};
  return bytes + std::string(length, '.');
}

// A handshake, a ping, and the length of a request are none.
TEST(EncryptedFrameWatchTest, ARequestIsWhatIsLong) {
  constexpr char handshake = 22, data = 23;
  FrameWatch watch(true);
  int sprung = 0;
  const auto pass = [&watch](Direction direction, std::string bytes, const std::string& expected) {
    const auto verdict = watch.inspect(0, 1, direction, bytes);
    EXPECT_EQ(bytes, expected);
    return verdict;
  };
  watch.set({Request::claim, Deed::drop_reply, 300ms, [&] { ++sprung; }});
  const std::string before = record(handshake, 700) + record(data, 28) + record(data, 32);
  EXPECT_FALSE(pass(Direction::to_server, before, before).cut);
  EXPECT_FALSE(pass(Direction::to_client, record(data, 60), record(data, 60)).cut) << "the reply to a ping";
  const std::string request = record(data, 300);
  EXPECT_FALSE(pass(Direction::to_server, request.substr(0, 100), "").cut);
  EXPECT_FALSE(pass(Direction::to_server, request.substr(100), request).cut);
  EXPECT_EQ(sprung, 0);
  EXPECT_TRUE(pass(Direction::to_client, record(data, 60), record(data, 60)).cut);
  EXPECT_EQ(sprung, 1);
  watch.set({Request::release, Deed::delay_request, 300ms, [&] { ++sprung; }});
  EXPECT_EQ(pass(Direction::to_server, request, request).delay, 300ms);
  EXPECT_EQ(sprung, 2);
}

TEST_F(FrameWatchTest, WhatIsClearedDoesNotSpring) {
  greet(0, 1, 7);
  set(Request::claim, Deed::none);
  watch_.clear();
  send(0, 1, request(1, multi, create));
  EXPECT_EQ(sprung_, 0);
}

}  // namespace
}  // namespace forelock::robustness
