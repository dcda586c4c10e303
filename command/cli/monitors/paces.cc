#include "cli/monitors/paces.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>

namespace forelock::cli {

Paces::ByMonitor Paces::take(const std::vector<MonitorView>& monitors, Steady look_begun) {
  std::map<std::string, Queue> former = std::exchange(queues_, {});
  ByMonitor paces;
  for (const MonitorView& monitor : monitors) take_queue(monitor, look_begun, former, paces);
  last_ = look_begun;
  return paces;
}

Paces::ByMonitor Paces::take(const Sightings& monitors, Steady look_begun) {
  std::map<std::string, Queue> former = std::exchange(queues_, {});
  ByMonitor paces;
  for (const SharedSighting& monitor : monitors) take_queue(monitor->view(), look_begun, former, paces);
  last_ = look_begun;
  return paces;
}

void Paces::take_queue(const MonitorView& monitor, Steady look_begun, std::map<std::string, Queue>& former,
                       ByMonitor& paces) {
  if (monitor.queue.empty()) return;
  Queue queue;
  for (const WaiterView& waiter : monitor.queue) queue.nodes.insert(waiter.node);
  if (const auto before = former.find(monitor.monitor); before != former.end()) {
    queue.samples = std::move(before->second.samples);
    queue.sum = before->second.sum;
    const auto stays = [&queue](const std::string& node) { return queue.nodes.contains(node); };
    const auto left = std::count_if(before->second.nodes.begin(), before->second.nodes.end(), std::not_fn(stays));
    add(queue, {look_begun - last_, static_cast<std::size_t>(left)});
  }
  if (queue.sum.left >= least_left && queue.sum.time > std::chrono::nanoseconds(0)) {
    paces.emplace(monitor.monitor, queue.sum.time / static_cast<std::int64_t>(queue.sum.left));
  }
  queues_.emplace(monitor.monitor, std::move(queue));
}

void Paces::add(Queue& queue, const Sample& sample) {
  queue.samples.push_back(sample);
  queue.sum.time += sample.time;
  queue.sum.left += sample.left;
  while (queue.sum.time > window && queue.samples.size() > 1) {
    queue.sum.time -= queue.samples.front().time;
    queue.sum.left -= queue.samples.front().left;
    queue.samples.pop_front();
  }
}

}  // namespace forelock::cli
