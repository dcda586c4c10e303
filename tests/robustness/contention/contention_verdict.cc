#include "robustness/contention/contention_verdict.h"

#include <nlohmann/json.hpp>

namespace forelock::robustness {
namespace {

using Change = ContentionVerdict::Change;

// Of the time; meanwhile caches fill, and allocators find their size.
constexpr double warm_up = 0.1;

struct Tolerance {
  double factor;
  double more;
};

// What differs from one moment to the next without growing.
const std::map<std::string, Tolerance>& tolerances() {
  static const std::map<std::string, Tolerance> all = {{"watches", {1.2, 20}},
                                                       {"nodes", {1.2, 20}},
                                                       {"memory_kib", {1.05, 2048}},
                                                       {"descriptors", {1.0, 2}},
                                                       {"requests per section", {1.2, 1}}};
  return all;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::int64_t count_of(const std::map<std::string, std::int64_t>& counts, const std::string& what) {
  const auto found = counts.find(what);
  return found == counts.end() ? 0 : found->second;
}

std::int64_t total(const ContentionSample& sample, const std::string& what) {
  std::int64_t sum = 0;
  for (const auto& client : sample.clients) sum += count_of(client, what);
  return sum;
}

using Samples = std::vector<const ContentionSample*>;

double typical(const Samples& half, const std::string& what, std::size_t client) {
  std::vector<double> values;
  for (const ContentionSample* sample : half) {
    if (client < sample->clients.size()) {
      values.push_back(static_cast<double>(count_of(sample->clients[client], what)));
    } else {
      values.push_back(static_cast<double>(what == "watches" ? sample->watches : sample->nodes));
    }
  }
  return median(std::move(values));
}

double requests_per_section(const Samples& half) {
  const auto sections = total(*half.back(), "sections") - total(*half.front(), "sections");
  const auto requests = total(*half.back(), "requests") - total(*half.front(), "requests");
  return sections > 0 ? static_cast<double>(requests) / static_cast<double>(sections) : 0;
}

class Judge {
 public:
  Judge(const std::vector<ContentionSample>& samples, const ContentionEnd& end, const ContentionBounds& bounds)
      : samples_(samples), end_(end), bounds_(bounds) {
    const double length = samples.empty() ? 0 : samples.back().seconds;
    for (const ContentionSample& each : samples) {
      if (each.seconds < length * warm_up) continue;
      (each.seconds < length * (1 + warm_up) / 2 ? first_ : second_).push_back(&each);
    }
  }

  ContentionVerdict verdict() {
    if (first_.size() < 3 || second_.size() < 3) {
      wrong("too few samples to judge: " + std::to_string(samples_.size()));
      return std::move(verdict_);
    }
    work_was_done();
    watches_are_few();
    nothing_grows();
    clients_live_on();
    background_work_is_served();
    return std::move(verdict_);
  }

 private:
  void wrong(std::string text) { verdict_.violations.push_back(std::move(text)); }
  static std::string name(std::size_t client) { return "client " + std::to_string(client + 1); }

  void work_was_done() {
    verdict_.sections = total(samples_.back(), "sections");
    for (std::size_t i = 0; i < end_.clients.size(); ++i) {
      for (const Samples* half : {&first_, &second_}) {
        if (count_of(half->back()->clients[i], "sections") > count_of(half->front()->clients[i], "sections")) continue;
        wrong(name(i) + " had no section in one half of the time");
      }
    }
  }

  void watches_are_few() {
    const auto clients = static_cast<std::int64_t>(end_.clients.size());
    const auto worst = std::max_element(samples_.begin(), samples_.end(),
                                        [](const auto& a, const auto& b) { return a.watches < b.watches; });
    verdict_.most_watches = worst->watches;
    at_most("watches of busy clients, after " + std::to_string(std::lround(worst->seconds)) + " s", worst->watches,
            clients * bounds_.watches_of_busy_client);
    at_most("watches of idle clients", end_.idle_watches, clients * bounds_.watches_of_idle_client);
    at_most("nodes when all are idle", end_.idle_nodes, bounds_.idle_nodes);
  }

  void at_most(const std::string& what, std::int64_t count, std::int64_t bound) {
    if (count > bound) wrong(what + ": " + std::to_string(count) + ", allowed are " + std::to_string(bound));
  }

  void nothing_grows() {
    const std::size_t all = end_.clients.size();
    for (const char* what : {"watches", "nodes"})
      compare(what, what, typical(first_, what, all), typical(second_, what, all));
    for (const char* what : {"memory_kib", "descriptors"}) {
      for (std::size_t i = 0; i < all; ++i) {
        compare(what, std::string(what) + " of " + name(i), typical(first_, what, i), typical(second_, what, i));
      }
    }
    const char* const requests = "requests per section";
    compare(requests, requests, requests_per_section(first_), requests_per_section(second_));
  }

  void compare(const std::string& kind, const std::string& what, double first, double second) {
    verdict_.changes[what] = {first, second};
    const Tolerance& tolerance = tolerances().at(kind);
    if (second <= first * tolerance.factor + tolerance.more) return;
    wrong(what + " grew from " + std::to_string(first) + " to " + std::to_string(second));
  }

  void clients_live_on() {
    for (std::size_t i = 0; i < end_.clients.size(); ++i) {
      const ContenderEnd& client = end_.clients[i];
      if (!client.answered) {
        wrong(name(i) + " does not answer any more");
        continue;
      }
      if (!client.same_session) wrong(name(i) + " has lost its session");
      if (!client.locks_again) wrong(name(i) + " cannot lock any more after the servers' restart");
      if (client.contenders != 0) wrong(name(i) + " has contenders left while it is idle");
      at_most("disconnections of " + name(i) + " by the servers' restart", client.disconnections,
              bounds_.disconnections);
    }
  }

  void background_work_is_served() {
    for (std::size_t i = 0; i < end_.clients.size(); ++i) {
      const ContenderEnd& client = end_.clients[i];
      if (client.answered && client.aged == 0) wrong("background work of " + name(i) + " was never served in a crowd");
      at_most("longest wait of background work of " + name(i) + ", in ms", client.longest_wait_ms,
              bounds_.longest_wait_ms);
    }
  }

  const std::vector<ContentionSample>& samples_;
  const ContentionEnd& end_;
  const ContentionBounds& bounds_;
  Samples first_;
  Samples second_;
  ContentionVerdict verdict_;
};

}  // namespace

std::string ContentionVerdict::json(const ContentionEnd& end) const {
  nlohmann::ordered_json result;
  result["sections"] = sections;
  result["most_watches"] = most_watches;
  result["idle_watches"] = end.idle_watches;
  result["idle_nodes"] = end.idle_nodes;
  for (const auto& [what, change] : changes) result["first_and_second_half"][what] = {change.first, change.second};
  for (const ContenderEnd& each : end.clients) {
    result["disconnections_by_restart"].push_back(each.disconnections);
    result["locks_again"].push_back(each.locks_again);
    result["aged"].push_back(each.aged);
    result["longest_wait_ms"].push_back(each.longest_wait_ms);
  }
  result["violations"] = violations.size();
  return result.dump();
}

ContentionVerdict judge_contention(const std::vector<ContentionSample>& samples, const ContentionEnd& end,
                                   const ContentionBounds& bounds) {
  return Judge(samples, end, bounds).verdict();
}

}  // namespace forelock::robustness
