#include "cli/dev/dev_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <system_error>

#include "cli/exit_code.h"
#include "cli/failure.h"
#include "cli/process/descriptor.h"
#include "zookeeper/probe.h"

namespace forelock::cli {
namespace {

constexpr const char* loopback = "127.0.0.1";
constexpr const char* debian_jar = "/usr/share/java/zookeeper.jar";
constexpr const char* debian_log = "/usr/share/java/slf4j-simple.jar";

std::string from_environment(const char* name, const std::string& otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

// Free at this moment; if another program takes it before the server does, the server ends.
std::uint16_t free_port() {
  const Descriptor listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener.get(), generic, size) != 0 || getsockname(listener.get(), generic, &size) != 0) {
    throw std::system_error(errno, std::generic_category(), "no free port");
  }
  return ntohs(address.sin_port);
}

// Whatever listens there, a tunnel to real servers say, is not ours to be used.
void refuse_taken(std::uint16_t port) {
  const Descriptor listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;  // connections of an earlier server, on their way out, do not count
  setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  if (bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return;
  const bool taken = errno == EADDRINUSE;
  throw FailureException({exit_unavailable,
                          taken ? "port_taken" : "server_failed",
                          "port " + std::to_string(port) + (taken ? " is taken" : " cannot be used") + ": " +
                              std::generic_category().message(errno),
                          "leave --port out for a free one",
                          {},
                          false,
                          {}});
}

std::string java() {
  const std::string home = from_environment("JAVA_HOME", "");
  return home.empty() ? "java" : home + "/bin/java";
}

std::string jar() {
  const std::string path = from_environment("FORELOCK_ZOOKEEPER_JAR", debian_jar);
  if (std::filesystem::exists(path)) return path;
  throw FailureException(
      {exit_unavailable,
       "missing_program",
       "there is no ZooKeeper server on this machine: " + path + " is missing",
       "install it (Debian: apt install libzookeeper-java default-jre-headless), or set $FORELOCK_ZOOKEEPER_JAR",
       {},
       false,
       {}});
}

// As the value of a .properties file, which Java reads byte by byte: JSON's escapes are such a file's, too.
std::string properties_text(const std::filesystem::path& path) {
  const auto json = nlohmann::json(path.string()).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  return json.substr(1, json.size() - 2);
}

[[noreturn]] void throw_no_java() {
  throw FailureException({exit_unavailable,
                          "missing_program",
                          "there is no Java on this machine: '" + java() + "' cannot be executed",
                          "install it (Debian: apt install default-jre-headless), or set $JAVA_HOME",
                          {},
                          false,
                          {}});
}

}  // namespace

DevServer::DevServer(const DevServerOptions& options)
    : directory_(options.directory), port_(options.port != 0 ? options.port : free_port()) {
  refuse_taken(port_);
  ChildOptions child;
  child.command = {java(), "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
                   "-Dzookeeper.admin.enableServer=false", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
                   // These data are not needed after a crash: the server need not wait for the disk.
                   "-Dzookeeper.forceSync=no", "-Dznode.container.checkIntervalMs=5000", "-cp",
                   jar() + ':' + debian_log, "org.apache.zookeeper.server.ZooKeeperServerMain", file("zoo.cfg")};
  child.environment = {{"LC_ALL", "C.UTF-8"}};  // for names of files
  child.death_signal = SIGKILL;
  child.output = file("server.log");
  child.foreground = false;
  write_files();
  try {
    process_ = std::make_unique<ChildProcess>(child);
  } catch (const FailureException&) {
    throw_no_java();
  }
}

void DevServer::write_files() const {
  std::filesystem::create_directories(file("data"));
  std::ofstream(file("zoo.cfg")) << "dataDir=" << properties_text(file("data")) << "\n"
                                 << "clientPort=" << port_ << "\n"
                                 << "clientPortAddress=" << loopback << "\n"
                                 << "tickTime=500\n"
                                 << "minSessionTimeout=500\n"
                                 << "maxSessionTimeout=120000\n"
                                 << "maxClientCnxns=0\n"
                                 << "admin.enableServer=false\n"
                                 << "4lw.commands.whitelist=*\n";
  std::ofstream(settings_file()) << "# Settings for the server that `forelock dev` started.\n"
                                 << "zookeeper.servers=" << address() << "\n";
}

std::string DevServer::address() const {
  return std::string(loopback) + ':' + std::to_string(port_);
}

std::string DevServer::settings_file() const {
  return file("forelock.properties");
}

bool DevServer::serving() const {
  constexpr std::chrono::milliseconds patience{500};
  const auto answer = zookeeper::four_letter_word(loopback, port_, "srvr", patience);
  if (!answer || answer->find("Mode: ") == std::string::npos) return false;
  const auto configuration = zookeeper::four_letter_word(loopback, port_, "conf", patience);
  return configuration && configuration->find("dataDir=" + file("data").string() + '/') != std::string::npos;
}

bool DevServer::running() {
  process_->update();
  return !process_->exit_code();
}

std::string DevServer::log_tail() const {
  std::ifstream log(file("server.log"));
  const std::string text{std::istreambuf_iterator<char>(log), {}};
  constexpr std::size_t limit = 2000;
  return text.size() > limit ? text.substr(text.size() - limit) : text;
}

std::string DevServer::last_words() const {
  std::istringstream lines(log_tail());
  std::string words;
  bool exception = false;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string::npos || line.compare(begin, 3, "at ") == 0 || line.compare(begin, 3, "...") == 0)
      continue;
    const bool names_exception = line.find("Exception") != std::string::npos || line.find("Error") != std::string::npos;
    if (exception && !names_exception) continue;
    exception = names_exception;
    words = line.substr(begin);
  }
  return words;
}

}  // namespace forelock::cli
