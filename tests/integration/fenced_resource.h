// A resource protected by the locks of the tests, which notices when two are inside at once.
#pragma once

#include "support/temporary_directory.h"
#include "support/visit_server.h"

namespace forelock::test {

// Takes "enter WHO TOKEN" and "leave", each answered by "ok" or, to an enter with a token that is not higher than all
// before, by "stale". A visitor whose connection ends while it is inside has left: it was killed. Every visit is
// recorded. Thread-safe.
class FencedResource {
 public:
  struct Visit {
    std::string who;
    std::int64_t token = 0;
    std::chrono::steady_clock::time_point entered;
    std::optional<std::chrono::steady_clock::time_point> left;
    bool killed = false;
  };

  std::string socket() const { return server_.socket().string(); }
  // Visits that began while another visitor was inside, described.
  std::vector<std::string> overlaps() const;
  // Enters that were refused for their token.
  std::size_t stale() const;
  std::vector<Visit> visits() const;
  std::size_t entered() const;

 private:
  std::string answer(int visitor, const std::string& request);
  void leave(int visitor, bool killed);

  const TemporaryDirectory directory_;
  mutable std::mutex mutex_;
  std::vector<Visit> visits_;
  std::map<int, std::size_t> inside_;  // by visitor
  std::vector<std::string> overlaps_;
  std::size_t stale_ = 0;
  std::int64_t highest_token_ = 0;
  VisitServer server_{directory_.path() / "resource",
                      [this](int visitor, const std::string& request) { return answer(visitor, request); },
                      [this](int visitor) { leave(visitor, true); }};
};

// A visitor of its own. Not thread-safe. Throws std::system_error.
class ResourceVisitor {
 public:
  ResourceVisitor(const std::string& socket, std::string who) : who_(std::move(who)), connection_(socket) {}

  // False if the resource has seen a higher token.
  bool enter(std::int64_t token) { return connection_.ask("enter " + who_ + " " + std::to_string(token)) == "ok"; }
  void leave() { connection_.ask("leave"); }

 private:
  const std::string who_;
  VisitConnection connection_;
};

}  // namespace forelock::test
