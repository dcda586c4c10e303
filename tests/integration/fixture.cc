#include "integration/fixture.h"

#include "support/wait_until.h"

namespace forelock::test {

Settings settings_for(const std::string& servers, std::initializer_list<std::pair<std::string, std::string>> more) {
  Settings settings;
  settings.set({{"zookeeper.servers", servers},
                {"zookeeper.session.timeout", "4000"},
                {"zookeeper.foregound.task.timeout", "60000"},
                {"zookeeper.backgound.task.timeout", "60000"}});
  for (const auto& [key, value] : more) settings.set(key, value);
  return settings;
}

std::vector<std::string> ephemeral_nodes(const TestServer& server) {
  std::vector<std::string> nodes;
  const auto answer = server.four_letter("dump");
  if (!answer) return {"no answer"};
  std::istringstream lines(*answer);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("\t/")) nodes.push_back(line.substr(1));
  }
  return nodes;
}

bool wait_until_unused(const TestServer& server, const std::string& monitor, std::chrono::milliseconds timeout) {
  return wait_until(
      [&] {
        const auto nodes = ephemeral_nodes(server);
        return std::none_of(nodes.begin(), nodes.end(), [&](const std::string& node) {
          return node.find("/" + monitor + "/") != std::string::npos || node == "no answer";
        });
      },
      timeout);
}

int length() {
  const char* value = std::getenv("FORELOCK_LONG");
  return value ? std::max(1, std::atoi(value)) : 1;
}

}  // namespace forelock::test
