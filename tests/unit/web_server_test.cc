#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <stdexcept>

#include "support/plain_line.h"
#include "web/server.h"

namespace forelock::web {
namespace {

using std::chrono::milliseconds;

class EchoSite final : public Site {
 public:
  Response answer(const Request& request) override {
    csrf = request.csrf;
    if (request.path.empty()) return {200, "text/plain", "root", false};
    if (request.path[0] == "events") return {200, {}, {}, true};
    if (request.path[0] == "broken") throw std::runtime_error("secret");
    if (request.path[0] == "long") return {200, "text/plain", std::string(3'000'000, 'x'), false};
    return {404, "text/plain", request.path[0], false};
  }
  void act(const Request& request, std::function<void(Response)> answer) override {
    answer({200, "text/plain", request.admin + " says " + request.body, false});
  }
  Event snapshot() override { return {"snapshot", std::to_string(++snapshots)}; }
  void tick() override { ++ticks; }

  std::string csrf;  // what the last request for a page was told
  int snapshots = 0;
  std::atomic<int> ticks = 0;
};

using Line = test::PlainLine;

std::string get(const std::string& path, const std::string& headers = {}) {
  return "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n";
}

class WebServer : public testing::Test {
 protected:
  void start(ServerOptions options = {}) {
    server_.emplace(std::move(options), site_);
    server_->start();
  }
  std::string answer(const std::string& request) {
    Line line(server_->port());
    line.send(request);
    return line.rest();
  }
  // Runs it on the server's thread.
  template <class Fn>
  auto on_server(Fn fn) {
    std::packaged_task<decltype(fn())()> task(std::move(fn));
    auto result = task.get_future();
    server_->post([&task] { task(); });
    return result.get();
  }
  void publish(const std::string& data) {
    on_server([&] { server_->publish({"change", data}); });
  }

  EchoSite site_;
  std::optional<Server> server_;
};

TEST_F(WebServer, ConnectionIsKeptAndRequestsMayFollowAtOnce) {
  start();
  Line line(server_->port());
  line.send(get("/") + get("/a") + get("/", "Connection: close\r\n"));
  const std::string text = line.rest();
  EXPECT_EQ(text.substr(0, 15), "HTTP/1.1 200 OK");
  EXPECT_NE(text.find("root"), std::string::npos);
  EXPECT_NE(text.find("HTTP/1.1 404"), std::string::npos);
  EXPECT_NE(text.find("HTTP/1.1 200", text.find("404")), std::string::npos);
}

TEST_F(WebServer, FailureTellsNothing) {
  start();
  const std::string text = answer(get("/broken"));
  EXPECT_EQ(text.substr(0, 12), "HTTP/1.1 500");
  EXPECT_EQ(text.find("secret"), std::string::npos);
}

TEST_F(WebServer, HeadHasNoBody) {
  start();
  const std::string text = answer("HEAD / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  EXPECT_NE(text.find("Content-Length: 4\r\n"), std::string::npos);
  EXPECT_EQ(text.substr(text.size() - 4), "\r\n\r\n");
  const std::string stream = answer("HEAD /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_NE(stream.find("text/event-stream"), std::string::npos);
  EXPECT_EQ(stream.substr(stream.size() - 4), "\r\n\r\n");
}

TEST_F(WebServer, StreamBeginsWithASnapshotAndGoesOnAfterABreak) {
  start();
  std::string id;
  {
    Line line(server_->port());
    line.send(get("/events"));
    EXPECT_NE(line.until("data: 1\n\n").find("event: snapshot"), std::string::npos);
    publish("one");
    const std::string event = line.until("data: one\n\n");
    id = event.substr(4, event.find('\n') - 4);
  }
  publish("two");
  Line line(server_->port());
  line.send(get("/events", "Last-Event-ID: " + id + "\r\n"));
  const std::string text = line.until("data: two\n\n");
  EXPECT_EQ(text.find("snapshot"), std::string::npos) << text;
  EXPECT_EQ(text.find("data: one"), std::string::npos) << text;
}

TEST_F(WebServer, BreakThatIsTooLongEndsInASnapshot) {
  start();
  publish("first");
  Line line(server_->port());
  line.send(get("/events"));
  const std::string text = line.until("\n\n");
  const std::size_t at = text.find("id: ");
  const std::string id = text.substr(at + 4, text.find('\n', at) - at - 4);
  for (int i = 0; i < 5000; ++i) publish("x");
  Line later(server_->port());
  later.send(get("/events", "Last-Event-ID: " + id + "\r\n"));
  EXPECT_NE(later.until("\n\n").find("event: snapshot"), std::string::npos);
}

TEST_F(WebServer, QuietStreamHasAHeartbeat) {
  ServerOptions options;
  options.heartbeat = milliseconds(10);
  start(options);
  Line line(server_->port());
  line.send(get("/events"));
  EXPECT_NE(line.until(": heartbeat\n\n: heartbeat\n\n").find("snapshot"), std::string::npos);
}

TEST_F(WebServer, StreamThatHasEndedIsForgotten) {
  ServerOptions options;
  options.heartbeat = milliseconds(10);
  start(options);
  {
    Line line(server_->port());
    line.send(get("/events"));
    line.until("data: ");
    EXPECT_EQ(on_server([&] { return server_->streams(); }), 1u);
  }
  while (on_server([&] { return server_->connections(); }) > 0) std::this_thread::yield();
  EXPECT_EQ(on_server([&] { return server_->streams(); }), 0u);
  publish("to no one");
}

TEST_F(WebServer, HeaderThatDoesNotEndIsGivenUp) {
  ServerOptions options;
  options.patience = milliseconds(50);
  start(options);
  EXPECT_EQ(answer("GET / HTTP/1.1\r\nHost: "), "");
  EXPECT_EQ(answer(""), "");
}

TEST_F(WebServer, ConnectionsBeyondTheLimitAreClosed) {
  ServerOptions options;
  options.max_connections = 2;
  start(options);
  std::optional<Line> first(server_->port());
  first->send(get("/events"));
  first->until("data: ");
  Line second(server_->port());
  second.send(get("/"));
  second.until("root");
  EXPECT_EQ(Line(server_->port()).rest(), "");
  first.reset();
  while (on_server([&] { return server_->connections(); }) > 1) std::this_thread::yield();
  EXPECT_NE(answer(get("/", "Connection: close\r\n")).find("root"), std::string::npos);
}

TEST_F(WebServer, ClientThatDoesNotReadHoldsNoOtherUp) {
  start();
  Line deaf(server_->port());
  deaf.send(get("/long") + get("/long"));
  Line deaf_stream(server_->port());
  deaf_stream.send(get("/events"));
  const std::string data(100'000, 'x');
  for (int i = 0; i < 100; ++i) publish(data);
  EXPECT_NE(answer(get("/", "Connection: close\r\n")).find("root"), std::string::npos);
}

TEST_F(WebServer, EndsWithStreamsAndIdleConnections) {
  start();
  Line stream(server_->port());
  stream.send(get("/events"));
  stream.until("data: 1\n\n");
  Line idle(server_->port());
  idle.send(get("/"));
  idle.until("root");
  server_->stop();
  EXPECT_EQ(stream.rest(), "");
  EXPECT_EQ(idle.rest(), "");
}

TEST_F(WebServer, SiteIsCalledOnceASecond) {
  start();
  while (site_.ticks < 2) std::this_thread::yield();
}

TEST_F(WebServer, AddressOfOthersIsAnError) {
  ServerOptions options;
  options.address = "192.0.2.1";
  EXPECT_THROW(Server(options, site_), std::system_error);
  EXPECT_TRUE(is_loopback("127.0.0.1"));
  EXPECT_TRUE(is_loopback("127.9.9.9"));
  EXPECT_TRUE(is_loopback("::1"));
  for (const char* address : {"0.0.0.0", "::", "192.0.2.1", "localhost", ""}) EXPECT_FALSE(is_loopback(address));
}

TEST_F(WebServer, BodyOfAnActMayComeInPiecesWithTheNextRequestBehindIt) {
  ServerOptions options;
  options.admins = {{"anna", std::string(32, 'a'), {}}};
  start(std::move(options));
  const std::string known = "Authorization: Bearer " + std::string(32, 'a') + "\r\n";
  Line line(server_->port());
  line.send(get("/", known));
  EXPECT_NE(line.until("root").find("200 OK"), std::string::npos);
  line.send("POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 5\r\n" + known +
            "X-Forelock-CSRF: " + on_server([&] { return site_.csrf; }) + "\r\n\r\nhe");
  line.send("llo" + get("/", "Connection: close\r\n"));
  EXPECT_NE(line.until("anna says hello").find("200 OK"), std::string::npos);
  EXPECT_NE(line.rest().find("root"), std::string::npos);
}

TEST_F(WebServer, BodyThatDoesNotComeIsGivenUp) {
  ServerOptions options;
  options.admins = {{"anna", std::string(32, 'a'), {}}};
  options.patience = milliseconds(50);
  start(std::move(options));
  const std::string known = "Authorization: Bearer " + std::string(32, 'a') + "\r\n";
  answer(get("/", known + "Connection: close\r\n"));
  const std::string text = answer(
      "POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 5\r\n" + known +
      "X-Forelock-CSRF: " + on_server([&] { return site_.csrf; }) + "\r\n\r\nhe");
  EXPECT_EQ(text.find("anna says"), std::string::npos) << text;
}

TEST(WebAdmins, TokenIsWorthNothingAfterItsEnd) {
  const auto now = std::chrono::system_clock::now();
  const Admins admins({{"anna", "aaaa", {}},
                       {"old", "bbbb", now - std::chrono::hours(1)},
                       {"new", "cccc", now + std::chrono::hours(1)}});
  EXPECT_EQ(admins.who("Bearer aaaa"), "anna");
  EXPECT_EQ(admins.who("Bearer cccc"), "new");
  for (const char* wrong : {"Bearer bbbb", "Bearer ", "Bearer aaa", "Bearer aaaaa", "Basic aaaa", "aaaa", ""})
    EXPECT_FALSE(admins.who(wrong)) << wrong;
  EXPECT_FALSE(Admins({}).who("Bearer "));
  EXPECT_FALSE(admins.is_csrf(""));
  EXPECT_TRUE(admins.is_csrf(admins.csrf()));
}

TEST(WebAdmins, OnlyThePageOfThisServerIsItsOwn) {
  EXPECT_TRUE(is_own_origin("http://localhost:9300", "localhost:9300"));
  EXPECT_TRUE(is_own_origin("https://locks.example", "locks.example"));
  for (const char* foreign : {"http://localhost:9301", "http://evil.example", "null", "", "localhost:9300",
                              "http://localhost:9300.evil.example"})
    EXPECT_FALSE(is_own_origin(foreign, "localhost:9300")) << foreign;
}

TEST(WebAdmins, RateHasALimit) {
  RateLimit limit(3);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(limit.take());
  EXPECT_FALSE(limit.take());
}

}  // namespace
}  // namespace forelock::web
