#include <gtest/gtest.h>

#include "web/event_log.h"
#include "web/request_check.h"

namespace forelock::web {
namespace {

TEST(WebCheck, LinesThatReadersTakeForDifferentThings) {
  EXPECT_FALSE(has_doubtful_lines("GET / HTTP/1.1\r\nHost: a\r\nX: a\tb\r\n\r\n"));
  EXPECT_TRUE(has_doubtful_lines("GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n"));
  EXPECT_TRUE(has_doubtful_lines("GET / HTTP/1.1\r\nHost: a\r\n\tb\r\n\r\n"));
  EXPECT_TRUE(has_doubtful_lines("GET / HTTP/1.1\nHost: a\r\n\r\n"));
  EXPECT_TRUE(has_doubtful_lines("GET / HTTP/1.1\rHost: a\r\n\r\n"));
  EXPECT_TRUE(has_doubtful_lines(std::string("GET / HTTP/1.1\r\nHost: a\0\r\n\r\n", 29)));
  EXPECT_TRUE(has_doubtful_lines("GET / HTTP/1.1\r\nHost: a\x7f\r\n\r\n"));
}

TEST(WebCheck, HostsThatAreAllowed) {
  HostNames names;
  names.allow("127.0.0.1");
  names.allow("[::1]");
  names.allow("Locks.example");
  for (const char* host : {"127.0.0.1", "127.0.0.1:9300", "[::1]", "[::1]:80", "LOCKS.example:443"})
    EXPECT_TRUE(names.allows(host)) << host;
  for (const char* host : {"", ":80", "evil.example", "127.0.0.1.evil.example", "127.0.0.1:80:80", "127.0.0.1:x",
                           "127.0.0.1:", "127.0.0.1@evil.example", "[::1", "::1", "locks.example.", "127.0.0.1:123456"})
    EXPECT_FALSE(names.allows(host)) << host;
}

TEST(WebCheck, PathsAreSegments) {
  const auto path = [](const char* target) { return parse_target(target).value().path; };
  EXPECT_EQ(path("/"), std::vector<std::string>{});
  EXPECT_EQ(path("/api/monitors/a%2Fb%20c?x=1"), (std::vector<std::string>{"api", "monitors", "a/b c"}));
  EXPECT_EQ(path("/api/"), std::vector<std::string>{"api"});
  EXPECT_EQ(path("/%C3%A4"), std::vector<std::string>{"\u00e4"});
  EXPECT_EQ(parse_target("/a?b=c?d").value().query, "b=c?d");
}

TEST(WebCheck, TricksAreNoPaths) {
  for (const char* target : {"", "*", "a", "http://evil.example/", "//", "/a//b", "/.", "/../etc/passwd", "/a/%2e%2E/b",
                             "/a/.%2e", "/%", "/%4", "/%zz", "/%ff", "/a#b"})
    EXPECT_FALSE(parse_target(target)) << target;
}

TEST(WebEvents, StreamGoesOnWhereItEnded) {
  EventLog log("run");
  for (const char* data : {"1", "2", "3"}) log.add({"change", data});
  std::uint64_t number = log.number_of("run-1").value();
  EXPECT_EQ(log.after(number, 1000), "id: run-2\nevent: change\ndata: 2\n\nid: run-3\nevent: change\ndata: 3\n\n");
  EXPECT_EQ(number, 3u);
  EXPECT_EQ(log.after(number, 1000), "");
}

TEST(WebEvents, PiecesAreBoundedButNeverEmpty) {
  EventLog log("run");
  for (const char* data : {"1", "2"}) log.add({"change", data});
  std::uint64_t number = 0;
  EXPECT_EQ(log.after(number, 1), "id: run-1\nevent: change\ndata: 1\n\n");
  EXPECT_EQ(log.after(number, 1), "id: run-2\nevent: change\ndata: 2\n\n");
}

TEST(WebEvents, WhatIsNoLongerKeptCannotBeResumed) {
  EventLog log("run", 2);
  for (const char* data : {"1", "2", "3", "4"}) log.add({"change", data});
  std::uint64_t number = 1;
  EXPECT_EQ(log.after(number, 1000), std::nullopt);
  number = 2;
  EXPECT_NE(log.after(number, 1000), std::nullopt);
}

TEST(WebEvents, BytesAreBounded) {
  EventLog log("run", 1000, 100);
  for (int i = 0; i < 100; ++i) log.add({"change", std::string(40, 'x')});
  std::uint64_t number = 98;
  EXPECT_EQ(log.after(number, 1000), std::nullopt);
  number = 99;
  EXPECT_TRUE(log.after(number, 1000));
}

TEST(WebEvents, IdsOfOtherRunsAreNotOurs) {
  EventLog log("run");
  log.add({"change", "1"});
  for (const char* id : {"", "run", "run-", "run-2", "run-x", "run-1x", "run--1", "other-1", "runx-1"})
    EXPECT_EQ(log.number_of(id), std::nullopt) << id;
  EXPECT_EQ(log.number_of("run-0"), 0u);
}

TEST(ParseQuery, decoded_in_order_or_refused) {
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(parse_query(""), Pairs());
  EXPECT_EQ(parse_query("at=2026-11-27T03%3A12%3A00Z&who=a+b%2B&&x"),
            (Pairs{{"at", "2026-11-27T03:12:00Z"}, {"who", "a b+"}, {"x", ""}}));
  EXPECT_EQ(parse_query("a=b=c"), (Pairs{{"a", "b=c"}}));
  for (const char* wrong : {"a=%", "a=%4", "a=%zz", "%ff=1", "a=1&a=2", "a=1&%61=2"})
    EXPECT_FALSE(parse_query(wrong)) << wrong;
}

}  // namespace
}  // namespace forelock::web
