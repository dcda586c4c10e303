// The ways of visitors, from other processes too, to a resource of the tests: a local socket, a packet for each request
// and for each answer.
#pragma once

#include "support/standard.h"

namespace forelock::test {

// Answers on a thread of its own, one request after the other. Who has left is heard before somebody new comes, so a
// visit ends before another one can begin.
class VisitServer {
 public:
  // A visitor is a connection, by its number.
  using Answer = std::function<std::string(int visitor, const std::string& request)>;
  using Gone = std::function<void(int visitor)>;  // its connection has ended: it was killed, as a rule

  // Throws std::system_error.
  VisitServer(std::filesystem::path socket, Answer answer, Gone gone);
  ~VisitServer();
  VisitServer(const VisitServer&) = delete;
  VisitServer& operator=(const VisitServer&) = delete;

  const std::filesystem::path& socket() const { return socket_; }

 private:
  void run();
  bool serve(int visitor);

  const std::filesystem::path socket_;
  const Answer answer_;
  const Gone gone_;
  int listener_ = -1;
  int wake_[2] = {-1, -1};
  std::thread thread_;
};

// A visitor's connection. Not thread-safe.
class VisitConnection {
 public:
  // Throws std::system_error, as ask() does when the resource is gone.
  explicit VisitConnection(const std::filesystem::path& socket);
  ~VisitConnection();
  VisitConnection(const VisitConnection&) = delete;
  VisitConnection& operator=(const VisitConnection&) = delete;

  std::string ask(std::string_view request);

 private:
  int connection_ = -1;
};

}  // namespace forelock::test
