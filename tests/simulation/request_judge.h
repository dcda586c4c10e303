// A RequestJudge holds every request of an engine against what docs/protocol.md lets a client send.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "checker.h"
#include "coordination/request.h"
#include "plan.h"

namespace forelock::simulation {

class RequestJudge {
 public:
  RequestJudge(const Plan& plan, Checker& checker) : plan_(plan), checker_(checker) {}

  // Returns the contender whose lock the request gives up, 0 for none.
  std::uint64_t sent(const Believer& process, const coordination::Request& request);

 private:
  struct Part;

  void add(Part& whole, std::string_view verb, const std::string& path) const;
  std::uint64_t owner_of(const Believer& process, std::string_view path) const;
  bool names_repeat(std::uint64_t owner) const;
  void fail(const coordination::Request& request, const std::string& text);

  const Plan& plan_;
  Checker& checker_;
};

}  // namespace forelock::simulation
