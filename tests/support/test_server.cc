#include "support/test_server.h"

#include <signal.h>

#include "support/free_port.h"
#include "support/text_of.h"
#include "support/wait_until.h"
#include "zookeeper/probe.h"

namespace forelock::test {
namespace {

constexpr int start_attempts = 5;

// The last two bring the log; without them the server is silent, and all the same a server. Netty, for ports with TLS,
// lacks a part that the server's package does not name.
constexpr const char* class_path =
    "/etc/zookeeper/conf_example:/usr/share/java/zookeeper.jar:/usr/share/java/netty-codec.jar:"
    "/usr/share/java/slf4j-log4j12.jar:/usr/share/java/log4j-1.2.jar";

std::string first_value_after(const std::string& text, const std::string& key) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(key)) return line.substr(key.size());
  }
  return {};
}

}  // namespace

ServerOptions quick_server() {
  ServerOptions options;
  options.force_sync = false;
  return options;
}

ServerOptions lasting_containers() {
  ServerOptions options = quick_server();
  options.container_check = std::chrono::hours(1);
  return options;
}

TestServer::TestServer(ServerOptions options) : options_(std::move(options)) {
  for (int attempt = 1;; ++attempt) {
    const std::vector<std::uint16_t> ports = free_ports(options_.secure_lines.empty() ? 1 : 2);
    port_ = ports.front();
    if (ports.size() > 1) secure_port_ = ports.back();
    write_configuration(nullptr);
    launch();
    if (wait_until_serving()) return;
    const bool ended = !running();
    kill();
    if (!ended || attempt == start_attempts) throw std::runtime_error("ZooKeeper does not start:\n" + log_tail());
  }
}

TestServer::TestServer(ServerOptions options, const Member& member)
    : options_(std::move(options)), port_(member.client_port), secure_port_(member.secure_port) {
  write_configuration(&member);
  launch();
}

TestServer::~TestServer() {
  kill();
}

std::string TestServer::connect_string() const {
  const bool ipv6 = options_.listen_address.find(':') != std::string::npos;
  return (ipv6 ? "[" + options_.listen_address + "]" : options_.listen_address) + ":" + std::to_string(port_);
}

void TestServer::write_configuration(const Member* member) {
  std::ofstream config(directory_.path() / "zoo.cfg");
  config << "tickTime=" << options_.tick_time.count() << "\n"
         << "minSessionTimeout=" << options_.min_session_timeout.count() << "\n"
         << "maxSessionTimeout=120000\n"
         << "dataDir=" << (directory_.path() / "data").string() << "\n"
         << "clientPort=" << port_ << "\n"
         << "clientPortAddress=" << options_.listen_address << "\n"
         << "admin.enableServer=false\n"
         << "4lw.commands.whitelist=*\n"
         << "initLimit=20\nsyncLimit=10\n";
  if (options_.connections_per_address) config << "maxClientCnxns=" << *options_.connections_per_address << "\n";
  for (const std::string& line : options_.config_lines) config << line << "\n";
  if (secure_port_ != 0) {
    config << "secureClientPort=" << secure_port_ << "\n"
           << "secureClientPortAddress=" << options_.listen_address << "\n";
    for (const std::string& line : options_.secure_lines) config << line << "\n";
  }
  std::filesystem::create_directories(directory_.path() / "data");
  if (member != nullptr) {
    for (const std::string& line : member->ensemble) config << line << "\n";
    std::ofstream(directory_.path() / "data" / "myid") << member->id << "\n";
  }
  std::ofstream(directory_.path() / "log4j.properties")
      << "log4j.rootLogger=WARN, FILE\n"
         "log4j.appender.FILE=org.apache.log4j.FileAppender\n"
         "log4j.appender.FILE.File=" +
             (directory_.path() / "server.log").string() +
             "\n"
             "log4j.appender.FILE.layout=org.apache.log4j.PatternLayout\n"
             "log4j.appender.FILE.layout.ConversionPattern=%d{ISO8601} %p %c{1} %m%n\n";
}

void TestServer::launch() {
  const std::string directory = directory_.path().string();
  std::vector<std::string> command = {"java"};
  command.insert(command.end(), options_.java_options.begin(), options_.java_options.end());
  command.insert(
      command.end(),
      {"-Dlog4j.configuration=file:" + directory + "/log4j.properties", "-Dzookeeper.admin.enableServer=false",
       std::string("-Dzookeeper.forceSync=") + (options_.force_sync ? "yes" : "no"),
       std::string("-Dzookeeper.enforceQuota=") + (options_.enforce_quota ? "true" : "false"),
       "-Dznode.container.checkIntervalMs=" + std::to_string(options_.container_check.count())});
  for (const std::string& property : options_.java_properties) command.push_back("-D" + property);
  command.insert(command.end(),
                 {"-cp", class_path, "org.apache.zookeeper.server.quorum.QuorumPeerMain", directory + "/zoo.cfg"});
  process_ = std::make_unique<ChildProcess>(std::move(command), directory_.path() / "output.log");
}

void TestServer::kill() {
  if (process_) process_->kill();
}

void TestServer::restart(bool wait) {
  kill();
  launch();
  if (wait && !wait_until_serving()) throw std::runtime_error("ZooKeeper does not start again:\n" + log_tail());
}

void TestServer::pause() {
  process_->signal(SIGSTOP);
}

void TestServer::resume() {
  process_->signal(SIGCONT);
}

std::string TestServer::mode() const {
  // Short: a server that is just starting may take a connection and forget it.
  const auto answer =
      zookeeper::four_letter_word(options_.listen_address, port_, "srvr", std::chrono::milliseconds(500));
  return answer ? first_value_after(*answer, "Mode: ") : std::string();
}

bool TestServer::wait_until_serving(std::chrono::milliseconds timeout) {
  bool ended = false;
  const bool over = wait_until([&] { return (ended = !running()) || serving(); }, timeout);
  return over && !ended;
}

std::optional<std::string> TestServer::four_letter(const std::string& word) const {
  return zookeeper::four_letter_word(options_.listen_address, port_, word, std::chrono::seconds(3));
}

std::int64_t TestServer::counter(const std::string& name) const {
  const auto answer = four_letter("mntr");
  const std::string value = answer ? first_value_after(*answer, name + "\t") : std::string();
  return value.empty() ? -1 : std::stoll(value);
}

std::string TestServer::log_tail() const {
  std::string text;
  for (const char* name : {"output.log", "server.log"}) text += text_of(directory_.path() / name);
  constexpr std::size_t limit = 4000;
  return text.size() > limit ? text.substr(text.size() - limit) : text;
}

}  // namespace forelock::test
