// A client's way to the fenced resource.
#pragma once

#include "robustness/history/recorded_call.h"
#include "support/visit_server.h"

namespace forelock::robustness {

// One visit at a time. The resource takes "enter PROCESS CALL MONITOR TOKEN" and "leave", and answers "ok" or
// "refused". Not thread-safe. Throws std::system_error when the resource is gone.
class ResourceVisitor {
 public:
  ResourceVisitor(const std::filesystem::path& socket, std::string process)
      : process_(std::move(process)), connection_(socket) {}

  // False if the resource has seen a higher token.
  bool enter(const RecordedCall& call, std::int64_t token) {
    return connection_.ask("enter " + process_ + " " + std::to_string(call.number()) + " " + call.monitor() + " " +
                           std::to_string(token)) == "ok";
  }
  // False if the resource has put the visitor out meanwhile.
  bool leave() { return connection_.ask("leave") == "ok"; }

 private:
  const std::string process_;
  test::VisitConnection connection_;
};

}  // namespace forelock::robustness
