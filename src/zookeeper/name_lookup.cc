#include "zookeeper/name_lookup.h"

#include <algorithm>
#include <condition_variable>
#include <cstddef>
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

// Of one name, beside those that it has: more than a client still tries, and not more and more of a name that moves on
// all the time.
constexpr std::size_t most_former = 64;

bool contains(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

}  // namespace

// Shared with the threads.
struct NameLookup::State {
  struct Name {
    HostAddresses addresses;          // those of the last answer that had any; the error of the last one
    std::vector<std::string> former;  // those of the answers before, the last ones last
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
    if (found.numeric.empty()) {
      found.numeric = std::move(name.addresses.numeric);
    } else {
      remember(name);
    }
    name.addresses = std::move(found);
    name.under_way = false;
    answered.notify_all();
  }

  static void remember(Name& name) {
    for (const std::string& address : name.addresses.numeric) {
      std::erase(name.former, address);
      name.former.push_back(address);
    }
    if (name.former.size() <= most_former) return;
    name.former.erase(name.former.begin(), name.former.end() - most_former);
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
    if (const auto numeric = numeric_address(server.host)) state_->names[server.host].addresses.numeric = {*numeric};
  }
}

NameLookup::~NameLookup() = default;

void NameLookup::begin() {
  const std::lock_guard guard(state_->mutex);
  for (const ServerName& server : servers_) {
    if (numeric_address(server.host)) continue;
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

std::vector<std::string> NameLookup::names_of(const std::string& address, std::uint16_t port) const {
  const std::lock_guard guard(state_->mutex);
  std::vector<std::string> now;
  std::vector<std::string> before;
  for (const ServerName& server : servers_) {
    const auto found = state_->names.find(server.host);
    if (found == state_->names.end() || server.port != port) continue;
    const State::Name& name = found->second;
    const bool has_it = contains(name.addresses.numeric, address);
    if (!has_it && !contains(name.former, address)) continue;
    std::vector<std::string>& names = has_it ? now : before;
    if (!contains(names, server.host)) names.push_back(server.host);
  }
  return now.empty() ? before : now;
}

void NameLookup::cancel() {
  const std::lock_guard guard(state_->mutex);
  state_->cancelled = true;
  state_->answered.notify_all();
}

}  // namespace forelock::zookeeper
