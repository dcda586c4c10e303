// A client's way to the fenced resource.
#pragma once

#include "robustness/history/recorded_call.h"

namespace forelock::robustness {

// One connection: one visit at a time. The resource is a socket of kind SOCK_SEQPACKET that takes "enter PROCESS CALL
// MONITOR TOKEN" and "leave", and answers "ok" or "refused". Not thread-safe. Throws std::system_error when the
// resource is gone.
class ResourceVisitor {
 public:
  ResourceVisitor(const std::filesystem::path& socket, std::string process);
  ~ResourceVisitor();
  ResourceVisitor(const ResourceVisitor&) = delete;
  ResourceVisitor& operator=(const ResourceVisitor&) = delete;

  // False if the resource has seen a higher token.
  bool enter(const RecordedCall& call, std::int64_t token);
  // False if the resource has put the visitor out meanwhile.
  bool leave();

 private:
  bool ask(std::string_view request);

  const std::string process_;
  int connection_ = -1;
};

}  // namespace forelock::robustness
