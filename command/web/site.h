// A Site is what a Server shows.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace forelock::web {

struct Request {
  std::vector<std::string> path;  // its segments, decoded; none for "/"
  std::string query;              // as it came, without the '?'
  std::string admin;              // the name of the admin who asks; empty for all others
  std::string csrf;               // for an admin: what an act is to carry
  std::string body;               // of an act
  bool wants_json = false;        // rather than a page
};

struct Response {
  unsigned status = 200;
  std::string type = "application/json";
  std::string body;
  bool events = false;  // the body is the stream of events
};

// One of the stream's events.
struct Event {
  std::string name;
  std::string data;  // one line
};

// Every method is called on the server's one thread, and must not block.
class Site {
 public:
  Site() = default;
  virtual ~Site() = default;
  Site(const Site&) = delete;
  Site& operator=(const Site&) = delete;

  // For GET and HEAD, before answer(). \returns whether the answer comes later: through `answer`, once, on the
  // server's thread.
  virtual bool answer_later(const Request& /*request*/, const std::function<void(Response)>& /*answer*/) {
    return false;
  }
  // For GET and HEAD.
  virtual Response answer(const Request& request) = 0;
  // For POST, by an admin. What it leads to is told through `answer`, once, on the server's thread.
  virtual void act(const Request& request, std::function<void(Response)> answer) = 0;
  // What a new stream begins with: all that its events have changed so far.
  virtual Event snapshot() = 0;
  // Called about once a second.
  virtual void tick() = 0;
};

}  // namespace forelock::web
