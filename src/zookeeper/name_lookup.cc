#include "zookeeper/name_lookup.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "base/thread_start.h"

namespace forelock::zookeeper {
namespace {

using Clock = std::chrono::steady_clock;

// The same text each time: callers log only problems that are new.
constexpr const char* no_answer = "the name service has not answered yet";

}  // namespace

// Shared with the threads.
struct NameLookup::State {
  struct Name {
    HostAddresses addresses;  // those of the last answer that had any; the error of the last one
    bool under_way = false;
  };

  explicit State(HostResolver given) : resolver(given ? std::move(given) : HostResolver(&resolve_host)) {}

  void look_up(const std::string& host) noexcept {
    HostAddresses found;
    try {
      found = resolver(host);
    } catch (const std::exception& problem) {
      found.error = problem.what();
    }
    const std::lock_guard guard(mutex);
    Name& name = names.at(host);
    if (found.numeric.empty()) found.numeric = std::move(name.addresses.numeric);
    name.addresses = std::move(found);
    name.under_way = false;
    answered.notify_all();
  }

  const HostResolver resolver;
  std::mutex mutex;
  std::condition_variable answered;
  std::map<std::string, Name> names;
  bool cancelled = false;
};

NameLookup::NameLookup(std::vector<ServerName> servers, HostResolver resolver)
    : servers_(std::move(servers)), state_(std::make_shared<State>(std::move(resolver))) {
  for (const ServerName& server : servers_) {
    if (!is_numeric_address(server.host)) continue;
    state_->names[server.host].addresses.numeric = {server.host};
  }
}

NameLookup::~NameLookup() = default;

void NameLookup::begin() {
  const std::lock_guard guard(state_->mutex);
  for (const ServerName& server : servers_) {
    if (is_numeric_address(server.host)) continue;
    State::Name& name = state_->names[server.host];
    if (std::exchange(name.under_way, true)) continue;
    try {
      base::start_thread("forelock-name", [state = state_, host = server.host] { state->look_up(host); }).detach();
    } catch (const std::exception& problem) {
      name.under_way = false;
      name.addresses.error = problem.what();
    }
  }
}

void NameLookup::wait(std::chrono::milliseconds limit) {
  const auto begun = Clock::now();
  std::unique_lock guard(state_->mutex);
  const auto all_answered = [this] {
    return state_->cancelled || std::none_of(state_->names.begin(), state_->names.end(),
                                             [](const auto& each) { return each.second.under_way; });
  };
  const auto any_address = [this] {
    return std::any_of(state_->names.begin(), state_->names.end(),
                       [](const auto& each) { return !each.second.addresses.numeric.empty(); });
  };
  state_->answered.wait_until(guard, begun + std::min(limit, patience), all_answered);
  state_->answered.wait_until(guard, begun + limit, [&] { return all_answered() || any_address(); });
}

std::vector<ResolvedServer> NameLookup::latest() const {
  const std::lock_guard guard(state_->mutex);
  std::vector<ResolvedServer> resolved;
  resolved.reserve(servers_.size());
  for (const ServerName& server : servers_) {
    ResolvedServer each{server, {}};
    if (const auto found = state_->names.find(server.host); found != state_->names.end()) {
      each.addresses = found->second.addresses;
      if (found->second.under_way && each.addresses.numeric.empty()) {
        each.addresses.error = no_answer;
      }
    }
    resolved.push_back(std::move(each));
  }
  return resolved;
}

void NameLookup::cancel() {
  const std::lock_guard guard(state_->mutex);
  state_->cancelled = true;
  state_->answered.notify_all();
}

}  // namespace forelock::zookeeper
