// Many reads, few round trips: requests are sent without waiting for each other's replies.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <vector>

#include "coordination/reply.h"
#include "coordination/request.h"

namespace forelock::client {

class EnsembleLink;

// Returns when there is a connection, or throws why there is none by the deadline. \throws
// ConnectionLossException, RequestRejectedException.
void connected_or_throw(EnsembleLink& ensemble, std::chrono::steady_clock::time_point deadline);

class RequestPipeline {
 public:
  // Everything that this object is asked for must be answered by `deadline`. The ensemble must outlive it.
  RequestPipeline(EnsembleLink& ensemble, std::chrono::steady_clock::time_point deadline);

  // One reply for each request, in order; a refused request is a reply too. At most `window` requests are under way at
  // a time, so that a list of thousands does not make locks of this session wait behind it. \throws
  // ConnectionLossException when the deadline passes first.
  std::vector<coordination::Reply> ask(std::vector<coordination::Request> requests);
  coordination::Reply ask(coordination::Request request);
  // `first` gets the reply before any later event of the session, even when no caller waits for it any more.
  coordination::Reply ask(coordination::Request request, std::function<void(const coordination::Reply&)> first);

  static constexpr std::size_t window = 128;

 private:
  EnsembleLink& ensemble_;
  std::chrono::steady_clock::time_point deadline_;
};

}  // namespace forelock::client
