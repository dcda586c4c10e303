#include "support/test_ensemble.h"

#include "support/free_port.h"
#include "support/wait_until.h"

namespace forelock::test {

TestEnsemble::TestEnsemble(const ServerOptions& options, const Link& link) {
  for (int attempt = 0; attempt < 5; ++attempt) {
    if (start(options, link)) return;
  }
  std::string logs;
  for (const auto& each : servers_) logs += each->log_tail() + "\n";
  throw std::runtime_error("no ensemble of ZooKeeper servers:\n" + logs);
}

bool TestEnsemble::start(const ServerOptions& options, const Link& link) {
  for (auto& each : servers_) each.reset();
  const std::vector<std::uint16_t> ports = free_ports(static_cast<int>(4 * size));
  for (std::size_t from = 0; from < size; ++from) {
    TestServer::Member member;
    member.id = static_cast<int>(from + 1);
    member.client_port = ports[4 * from];
    if (!options.secure_lines.empty()) member.secure_port = ports[4 * from + 3];
    for (std::size_t to = 0; to < size; ++to) {
      std::string line = "server." + std::to_string(to + 1) + "=127.0.0.1";
      for (const std::uint16_t port : {ports[4 * to + 1], ports[4 * to + 2]}) {
        line += ":" + std::to_string(link && from != to ? link(from, to, port) : port);
      }
      member.ensemble.push_back(std::move(line));
    }
    servers_[from] = std::make_unique<TestServer>(options, member);
  }
  return wait_until_serving();
}

bool TestEnsemble::wait_until_serving(std::chrono::milliseconds timeout) {
  bool ended = false;
  const bool over = wait_until(
      [&] {
        ended = std::any_of(servers_.begin(), servers_.end(), [](const auto& each) { return !each->running(); });
        return ended || std::all_of(servers_.begin(), servers_.end(), [](const auto& each) { return each->serving(); });
      },
      timeout);
  return over && !ended;
}

std::string TestEnsemble::connect_string() const {
  std::string text;
  for (const auto& each : servers_) text += (text.empty() ? "" : ",") + each->connect_string();
  return text;
}

std::string TestEnsemble::secure_connect_string() const {
  std::string text;
  for (const auto& each : servers_) {
    text += (text.empty() ? "127.0.0.1:" : ",127.0.0.1:") + std::to_string(each->secure_port());
  }
  return text;
}

std::size_t TestEnsemble::leader() {
  return find("leader");
}

std::size_t TestEnsemble::follower() {
  return find("follower");
}

std::size_t TestEnsemble::find(const std::string& mode) {
  std::size_t found = size;
  wait_until(
      [&] {
        for (found = 0; found < size; ++found) {
          if (servers_[found]->running() && servers_[found]->mode() == mode) return true;
        }
        return false;
      },
      std::chrono::seconds(30));
  return found;
}

}  // namespace forelock::test
