// A resource protected by the locks of the tests, which notices when two are inside at once.
#pragma once

#include "support/standard.h"

namespace forelock::test {

// Listens on 127.0.0.1 and speaks lines: "enter WHO TOKEN" and "leave", each answered by "ok" or, to an enter with a
// token that is not higher than all before, by "stale". A visitor whose connection ends while it is inside has left: it
// was killed. Every visit is recorded. Thread-safe.
class FencedResource {
 public:
  struct Visit {
    std::string who;
    std::int64_t token = 0;
    std::chrono::steady_clock::time_point entered;
    std::optional<std::chrono::steady_clock::time_point> left;
    bool killed = false;
  };

  // Throws std::system_error.
  FencedResource();
  ~FencedResource();
  FencedResource(const FencedResource&) = delete;
  FencedResource& operator=(const FencedResource&) = delete;

  std::uint16_t port() const { return port_; }
  // Visits that began while another visitor was inside, described.
  std::vector<std::string> overlaps() const;
  // Enters that were refused for their token.
  std::size_t stale() const;
  std::vector<Visit> visits() const;
  std::size_t entered() const;

 private:
  struct Visitor {
    std::string unread;
    std::optional<std::size_t> visit;
  };

  void run();
  void accept_visitor();
  bool serve(int connection);
  std::string answer(Visitor& visitor, const std::string& line);
  void leave(Visitor& visitor, bool killed);

  int listener_ = -1;
  int wake_[2] = {-1, -1};
  std::uint16_t port_ = 0;
  mutable std::mutex mutex_;
  std::vector<Visit> visits_;
  std::vector<std::size_t> inside_;
  std::vector<std::string> overlaps_;
  std::size_t stale_ = 0;
  std::int64_t highest_token_ = 0;
  std::map<int, Visitor> visitors_;  // by connection; only the thread's
  std::thread thread_;
};

// A visitor of its own: one connection. Not thread-safe.
class ResourceVisitor {
 public:
  // Throws std::system_error.
  ResourceVisitor(std::uint16_t port, std::string who);
  ~ResourceVisitor();
  ResourceVisitor(const ResourceVisitor&) = delete;
  ResourceVisitor& operator=(const ResourceVisitor&) = delete;

  // False if the resource has seen a higher token.
  bool enter(std::int64_t token);
  void leave();

 private:
  std::string ask(const std::string& line);

  const std::string who_;
  int connection_ = -1;
};

}  // namespace forelock::test
