#include "client/request_pipeline.h"

#include <algorithm>
#include <deque>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "client/client_core.h"
#include "client/ensemble_link.h"
#include "forelock/error.h"

namespace forelock::client {
namespace {

using coordination::Reply;
using coordination::Request;

Reply wait_for(std::future<Reply>& reply, std::chrono::steady_clock::time_point deadline) {
  if (reply.wait_until(deadline) != std::future_status::ready) {
    throw ConnectionLossException(ErrorCode::connection_loss, {}, "the server did not answer in time",
                                  "forelock doctor");
  }
  return reply.get();
}

}  // namespace

void connected_or_throw(EnsembleLink& ensemble, std::chrono::steady_clock::time_point deadline) {
  using std::chrono::milliseconds;
  ensemble.core().check_usable();
  const auto left = std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now());
  if (ensemble.wait_connected(std::max(left, milliseconds(0)))) return;
  const std::string problem = ensemble.last_problem();
  if (const std::optional<ErrorCode> standing = ensemble.standing_problem()) {
    throw RequestRejectedException(*standing, {}, problem.empty() ? "the server refuses us" : problem,
                                   "check zookeeper.auth.digest.file; forelock doctor");
  }
  throw ConnectionLossException(ErrorCode::connection_loss, {},
                                "no connection to ZooKeeper" + (problem.empty() ? "" : ": " + problem),
                                "forelock doctor");
}

RequestPipeline::RequestPipeline(EnsembleLink& ensemble, std::chrono::steady_clock::time_point deadline)
    : ensemble_(ensemble), deadline_(deadline) {}

std::vector<Reply> RequestPipeline::ask(std::vector<Request> requests) {
  std::vector<Reply> replies;
  replies.reserve(requests.size());
  std::deque<std::future<Reply>> under_way;
  for (Request& request : requests) {
    if (under_way.size() == window) {
      replies.push_back(wait_for(under_way.front(), deadline_));
      under_way.pop_front();
    }
    under_way.push_back(ensemble_.request(std::move(request)));
  }
  for (std::future<Reply>& reply : under_way) replies.push_back(wait_for(reply, deadline_));
  return replies;
}

Reply RequestPipeline::ask(Request request, std::function<void(const Reply&)> first) {
  auto promise = std::make_shared<std::promise<Reply>>();
  std::future<Reply> reply = promise->get_future();
  ensemble_.request(std::move(request), [promise, first = std::move(first)](Reply read) {
    first(read);
    promise->set_value(std::move(read));
  });
  return wait_for(reply, deadline_);
}

Reply RequestPipeline::ask(Request request) {
  std::future<Reply> reply = ensemble_.request(std::move(request));
  return wait_for(reply, deadline_);
}

}  // namespace forelock::client
