#pragma once

#include "support/child_process.h"
#include "support/temporary_directory.h"

namespace forelock::test {

// Limits are those that users have (60 connections from one address, 10,000 containers removed in a minute, packets of
// 1 MiB), unless a test says otherwise, and why. Times are shorter, so that tests are.
struct ServerOptions {
  std::chrono::milliseconds tick_time{500};
  std::chrono::milliseconds min_session_timeout{1000};
  // Off: the server does not wait for the disk. Faster, and nothing that a test can see differs.
  bool force_sync = true;
  // How often is looked for emptied containers; a minute by default.
  std::chrono::milliseconds container_check{200};
  bool enforce_quota = false;
  std::optional<int> connections_per_address;  // at most so many at a time; 0: any number
  std::string listen_address = "127.0.0.1";
  std::vector<std::string> config_lines;  // more lines for zoo.cfg
  // The same of a server with a port for TLS beside the one without; empty: it has none.
  std::vector<std::string> secure_lines;
  std::vector<std::string> java_properties;  // more "name=value" system properties
  // Of the server's virtual machine: small, and soon at work.
  std::vector<std::string> java_options{"-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"};
};

// A server that does not wait for the disk.
ServerOptions quick_server();
// The same; a container that vanishes between two sections would have to be made again, so they stay.
ServerOptions lasting_containers();

// A real ZooKeeper server as a child process, alone or as a member of an ensemble, with its data in a directory of its
// own. All 4-letter words are permitted. Not thread-safe.
class TestServer {
 public:
  // Starts and waits until it serves; tries other ports when they are taken. Throws std::runtime_error with the end of
  // the server's log.
  explicit TestServer(ServerOptions options = {});

  // A member of an ensemble: does not wait, and is not retried.
  struct Member {
    int id = 1;
    std::uint16_t client_port = 0;
    std::uint16_t secure_port = 0;      // if it has one
    std::vector<std::string> ensemble;  // the "server.N=…" lines
  };
  TestServer(ServerOptions options, const Member& member);
  ~TestServer();

  std::uint16_t port() const { return port_; }
  // That for TLS; 0 if it has none.
  std::uint16_t secure_port() const { return secure_port_; }
  std::string connect_string() const;
  // Its snapshots and transaction logs, below "version-2".
  std::filesystem::path data_directory() const { return directory_.path() / "data"; }
  // Of the running process.
  pid_t process_id() const { return process_->id(); }

  // SIGKILL; the data stay.
  void kill();
  // Kills it when it runs, starts it again on the same port and data. Waits until it serves unless told otherwise.
  void restart(bool wait = true);
  void pause();
  void resume();

  bool running() { return process_ && process_->running(); }
  bool serving() const { return !mode().empty(); }
  // "standalone", "leader", "follower", or empty when it does not serve.
  std::string mode() const;
  bool wait_until_serving(std::chrono::milliseconds timeout = std::chrono::seconds(30));

  std::optional<std::string> four_letter(const std::string& word) const;
  // A counter of "mntr", for example "zk_watch_count"; -1 when there is none.
  std::int64_t counter(const std::string& name) const;
  // Packets received since the start, pings and handshakes included.
  std::int64_t packets_received() const { return counter("zk_packets_received"); }

  // The end of its log, for messages.
  std::string log_tail() const;

 private:
  void write_configuration(const Member* member);
  void launch();

  ServerOptions options_;
  TemporaryDirectory directory_;
  std::uint16_t port_ = 0;
  std::uint16_t secure_port_ = 0;
  std::unique_ptr<ChildProcess> process_;
};

}  // namespace forelock::test
