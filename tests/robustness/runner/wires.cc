#include "robustness/runner/wires.h"

namespace forelock::robustness {

Wires::Wires(const std::vector<std::uint16_t>& server_ports, bool encrypted) : watch_(encrypted) {
  for (const std::uint16_t port : server_ports) {
    auto proxy = std::make_unique<test::TcpProxy>(port);
    proxy->set_inspector(
        [this, index = static_cast<int>(proxies_.size())](int connection, Direction direction, std::string& bytes) {
          return watch_.inspect(index, connection, direction, bytes);
        });
    proxies_.push_back(std::move(proxy));
  }
}

std::string Wires::servers(const std::vector<std::string>& hosts) const {
  std::string list;
  for (std::size_t i = 0; i < proxies_.size(); ++i) {
    list += (list.empty() ? "" : ",") + hosts.at(i % hosts.size()) + ":" + std::to_string(proxies_[i]->port());
  }
  return list;
}

void Wires::cut() {
  for (const auto& proxy : proxies_) proxy->cut_connections();
}

void Wires::refuse(bool on) {
  const std::lock_guard guard(mutex_);
  refusals_ += on ? 1 : -1;
  apply_refusals();
}

void Wires::only(std::optional<std::size_t> server) {
  const std::lock_guard guard(mutex_);
  only_ = server;
  apply_refusals();
}

void Wires::all_but(std::optional<std::size_t> server) {
  const std::lock_guard guard(mutex_);
  all_but_ = server;
  apply_refusals();
}

void Wires::apply_refusals() {
  for (std::size_t i = 0; i < proxies_.size(); ++i) {
    proxies_[i]->refuse(refusals_ > 0 || (only_ && *only_ != i) || all_but_ == i);
  }
}

void Wires::stall(Direction direction, bool on) {
  const std::lock_guard guard(mutex_);
  int& count = stalls_[static_cast<std::size_t>(direction)];
  count += on ? 1 : -1;
  for (const auto& proxy : proxies_) proxy->stall(direction, count > 0);
}

void Wires::set_delay(std::chrono::milliseconds delay) {
  for (const auto& proxy : proxies_) proxy->set_delay(delay);
}

void Wires::set_rate(std::size_t bytes_per_second) {
  for (const auto& proxy : proxies_) proxy->set_rate(bytes_per_second);
}

}  // namespace forelock::robustness
