// Handles of the C client with our patches: what several of one process must not share, and what must end none.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
#include <zookeeper/proto.h>
#include <zookeeper/zookeeper.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/free_port.h"
#include "support/wait_until.h"

namespace forelock::test {
namespace {

using namespace std::string_literals;
using Random = std::mt19937;

struct CloseHandle {
  void operator()(zhandle_t* handle) const { zookeeper_close(handle); }
};
using Handle = std::unique_ptr<zhandle_t, CloseHandle>;

void ignore_event(zhandle_t* /*handle*/, int /*type*/, int /*state*/, const char* /*path*/, void* /*context*/) {}
void ignore_line(const char* /*line*/) {}

Handle connect_to(const std::string& server) {
  return Handle(zookeeper_init2(server.c_str(), &ignore_event, 600, nullptr, nullptr, 0, &ignore_line));
}

// As they do in each error of a connection. Nobody listens there.
TEST(HandlesTest, EachNamesTheServerOfItsOwn) {
  constexpr int looks = 100'000;
  std::vector<std::thread> threads;
  for (const std::uint16_t port : free_ports(4)) {
    threads.emplace_back([port] {
      const std::string own = "127.0.0.1:" + std::to_string(port);
      const Handle handle = connect_to(own);
      ASSERT_NE(handle, nullptr);
      const auto named = [&] { return own == zoo_get_current_server(handle.get()); };
      ASSERT_TRUE(wait_until(named));
      int others = 0;
      for (int i = 0; i < looks; ++i) others += named() ? 0 : 1;
      EXPECT_EQ(others, 0);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Has a port of 127.0.0.1, and a thread that serves one connection after the other.
class Listener {
 public:
  explicit Listener(std::function<void(int client)> serve) : serve_(std::move(serve)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(bind(socket_, reinterpret_cast<const sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(socket_, 16), 0);
    getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] {
      for (int client = -1; (client = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC)) >= 0; close(client)) {
        serve_(client);
      }
    });
  }
  ~Listener() {
    shutdown(socket_, SHUT_RDWR);
    thread_.join();
    close(socket_);
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  const std::function<void(int)> serve_;
  int socket_ = -1;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

void say(int client, const std::string& bytes) {
  static_cast<void>(!send(client, bytes.data(), bytes.size(), MSG_NOSIGNAL));
}

// Says something to everybody who connects, and hangs up.
class Talker {
 public:
  explicit Talker(std::function<std::string(int connection)> speech) : speech_(std::move(speech)) {}

  std::string address() const { return listener_.address(); }
  int connections() const { return connections_; }

 private:
  void serve(int client) {
    say(client, speech_(connections_));
    shutdown(client, SHUT_WR);
    const timeval patience{2, 0};
    setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    char buffer[512];
    while (recv(client, buffer, sizeof(buffer), 0) > 0) {
    }
    ++connections_;
  }

  const std::function<std::string(int)> speech_;
  std::atomic<int> connections_{0};
  Listener listener_{[this](int client) { serve(client); }};  // the last: its thread uses the others
};

std::string number(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(value >> shift & 0xFF));
  return bytes;
}
std::string packet(const std::string& body) {
  return number(static_cast<std::uint32_t>(body.size())) + body;
}
std::string noise(Random& random, std::size_t size) {
  std::string bytes(size, '\0');
  for (char& each : bytes) each = static_cast<char>(random());
  return bytes;
}

// What a server answers to a connection: version, time-out, session, password, not read-only.
std::string welcome_for(std::uint32_t timeout_ms) {
  return packet(number(0) + number(timeout_ms) + number(0) + number(7) + number(16) + std::string(16, 'p') + '\0');
}
const std::string welcome = welcome_for(600);
const std::string ssh = "SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n"s + number(1076) + "\x06\x14"s;

// Other services, and what is cut off or made up behind an answer that is right.
TEST(HandlesTest, WhatIsNoZooKeeperServerEndsNoProcess) {
  constexpr int kinds = 9;
  constexpr int each = 20;
  Talker talker([](int connection) {
    Random random(static_cast<unsigned>(connection));
    const std::size_t size = random() % 300;
    switch (connection % kinds) {
      case 0:
        return ssh + noise(random, 1074);
      case 1:
        return "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n400 Bad Request"s;
      case 2:
        return welcome + noise(random, size);
      case 3:
        return welcome + packet(noise(random, size % 24));
      case 4:  // a reply that nobody has asked for
        return welcome + packet(number(static_cast<std::uint32_t>(size)) + number(0) + number(9) + number(0));
      case 5:  // an event, with a path of which something may be missing
        return welcome + packet((number(0xFFFFFFFF) + number(0) + number(9) + number(0) + number(3) + number(3) +
                                 number(static_cast<std::uint32_t>(size)) + noise(random, size))
                                    .substr(0, 16 + random() % 40));
      case 6:  // of an authentication, well or ill: the handle has none
        return welcome + packet(number(0xFFFFFFFC) + number(0) + number(9) + number(size % 2 == 0 ? 0 : 0xFFFFFF8D));
      case 7:
        return packet(noise(random, 37)) + noise(random, size);
      default:
        return noise(random, size);
    }
  });
  const Handle handle = connect_to(talker.address());
  ASSERT_NE(handle, nullptr);
  EXPECT_TRUE(wait_until([&] { return talker.connections() >= kinds * each; }, std::chrono::seconds(150)))
      << talker.connections();
  EXPECT_EQ(is_unrecoverable(handle.get()), ZOK);
}

bool receive(int client, void* into, std::size_t size) {
  return recv(client, into, size, MSG_WAITALL) == static_cast<ssize_t>(size);
}

// Empty at the end.
std::string request_of(int client) {
  std::uint32_t size = 0;
  if (!receive(client, &size, sizeof(size))) return {};
  std::string bytes(ntohl(size), '\0');
  return receive(client, bytes.data(), bytes.size()) ? bytes : std::string();
}

// Answers the requests of one connection after another, each with the next of these bodies.
void answer_with(int client, const std::vector<std::string>& bodies, std::size_t& next) {
  if (!request_of(client).empty()) say(client, welcome_for(30'000));
  for (std::string asked; !(asked = request_of(client)).empty();) {
    const bool ping = asked.substr(0, 4) == number(0xFFFFFFFE);
    const std::string body = !ping && next < bodies.size() ? bodies[next++] : std::string();
    say(client, packet(asked.substr(0, 4) + number(0) + number(9) + number(0) + body));
  }
}

Handle connect_to_listener(const Listener& server) {
  return Handle(zookeeper_init2(server.address().c_str(), &ignore_event, 30'000, nullptr, nullptr, 0, &ignore_line));
}

using Outcome = std::promise<int>;
void string_told(int code, const char* /*value*/, const void* outcome) {
  static_cast<Outcome*>(const_cast<void*>(outcome))->set_value(code);
}
void string_and_stat_told(int code, const char* /*value*/, const struct Stat* /*stat*/, const void* outcome) {
  string_told(code, nullptr, outcome);
}
void stat_told(int code, const struct Stat* /*stat*/, const void* outcome) {
  string_told(code, nullptr, outcome);
}
void data_told(int code, const char* /*data*/, int /*size*/, const struct Stat* /*stat*/, const void* outcome) {
  string_told(code, nullptr, outcome);
}
void names_told(int code, const struct String_vector* names, const void* outcome) {
  for (int i = 0; code == ZOK && i < names->count; ++i) EXPECT_EQ(names->data[i], "a"s);
  string_told(code, nullptr, outcome);
}
void names_and_stat_told(int code, const struct String_vector* names, const struct Stat* /*stat*/,
                         const void* outcome) {
  names_told(code, names, outcome);
}

// What is asked for, and a body that answers it.
struct Question {
  std::function<int(zhandle_t*, Outcome*)> ask;
  std::string answer;
};

std::vector<Question> questions() {
  const std::string stat(68, '\1');
  const std::string names = number(2) + number(1) + "a" + number(1) + "a";
  return {{[](zhandle_t* zh, Outcome* out) { return zoo_aget(zh, "/a", 0, &data_told, out); }, number(2) + "xy" + stat},
          {[](zhandle_t* zh, Outcome* out) { return zoo_aexists(zh, "/a", 0, &stat_told, out); }, stat},
          {[](zhandle_t* zh, Outcome* out) { return zoo_aget_children(zh, "/a", 0, &names_told, out); }, names},
          {[](zhandle_t* zh, Outcome* out) { return zoo_aget_children2(zh, "/a", 0, &names_and_stat_told, out); },
           names + stat},
          {[](zhandle_t* zh, Outcome* out) {
             return zoo_acreate(zh, "/a", "", 0, &ZOO_OPEN_ACL_UNSAFE, 0, &string_told, out);
           },
           number(2) + "/a"},
          {[](zhandle_t* zh, Outcome* out) {
             return zoo_acreate2(zh, "/a", "", 0, &ZOO_OPEN_ACL_UNSAFE, 0, &string_and_stat_told, out);
           },
           number(2) + "/a" + stat}};
}

TEST(HandlesTest, ABodyThatCannotBeReadIsNoAnswer) {
  std::vector<std::pair<const Question*, std::string>> asked;
  const std::vector<Question> all = questions();
  for (const Question& each : all) {
    for (std::size_t size = 0; size <= each.answer.size(); ++size)
      asked.emplace_back(&each, each.answer.substr(0, size));
    if (&each == &all[1]) continue;  // has no length in it
    for (const std::uint32_t length : {0x7FFFFFFFU, 0x10000000U, 0x80000000U, 0xFFFFFFF0U}) {
      asked.emplace_back(&each, number(length) + each.answer.substr(4));
    }
  }
  std::vector<std::string> bodies;
  for (const auto& [question, body] : asked) bodies.push_back(body);
  std::size_t next = 0;
  std::deque<Outcome> outcomes;
  const Listener server([&](int client) { answer_with(client, bodies, next); });
  const Handle handle = connect_to_listener(server);
  ASSERT_NE(handle, nullptr);
  for (const auto& [question, body] : asked) {
    ASSERT_EQ(question->ask(handle.get(), &outcomes.emplace_back()), ZOK);
    ASSERT_EQ(outcomes.back().get_future().get(), body == question->answer ? ZOK : ZMARSHALLINGERROR)
        << question - all.data() << ": " << body.size() << " bytes";
  }
}

// What the client says of a transaction of two operations.
int outcome_of(zhandle_t* handle) {
  zoo_op_t operations[2];
  zoo_op_result_t results[2];
  zoo_delete_op_init(&operations[0], "/a", -1);
  zoo_delete_op_init(&operations[1], "/b", -1);
  return zoo_multi(handle, 2, operations, results);
}

TEST(HandlesTest, ATransactionHasAsManyResultsAsOperations) {
  const std::string result = number(ZOO_DELETE_OP) + '\0' + number(0);
  const std::string end = number(0xFFFFFFFF) + '\1' + number(0xFFFFFFFF);
  const std::vector<std::string> results{
      result + result + end, result + result + result + end, result + end, result + result, result, "", end};
  std::size_t next = 0;
  const Listener server([&](int client) { answer_with(client, results, next); });
  const Handle handle = connect_to_listener(server);
  ASSERT_NE(handle, nullptr);
  EXPECT_EQ(outcome_of(handle.get()), ZOK);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(outcome_of(handle.get()), ZMARSHALLINGERROR) << i;
}

}  // namespace
}  // namespace forelock::test
