#pragma once

#include "support/child_process.h"
#include "support/temporary_directory.h"

namespace forelock::test {

struct BrokerOptions {
  std::vector<std::string> config_lines;  // more lines for server.properties
  std::vector<std::string> listeners;     // more of them, by security protocol, e.g. "SASL_SSL"
};

// A real Kafka broker of one node as a child process, with its data in a directory of its own; topics are not made by
// themselves. Needs what `scripts/kafka.sh jars` provides: CTest's fixture "kafka". Serves about one second after its
// start. Not thread-safe.
class TestBroker {
 public:
  // Starts and waits until it serves; tries other ports when they are taken. Throws std::runtime_error with the end of
  // the broker's log.
  explicit TestBroker(BrokerOptions options = {});
  ~TestBroker();
  TestBroker(const TestBroker&) = delete;
  TestBroker& operator=(const TestBroker&) = delete;

  // "127.0.0.1:PORT" of a listener.
  std::string bootstrap(const std::string& listener = "PLAINTEXT") const;
  std::uint16_t port(const std::string& listener = "PLAINTEXT") const { return ports_.at(listener); }

  // SIGKILL; the data stay.
  void kill();
  // Kills it when it runs, starts it again on the same ports and data. Waits until it serves unless told otherwise.
  void restart(bool wait = true);
  // SIGSTOP; nothing is answered any more when it returns.
  void pause();
  void resume();

  bool running() { return process_ && process_->running(); }
  // Whether the PLAINTEXT listener answers a request for metadata.
  bool wait_until_serving(std::chrono::milliseconds timeout = std::chrono::seconds(60));

  // Where its data, configuration and log are.
  const std::filesystem::path& directory() const { return directory_.path(); }
  // The end of its log, for messages.
  std::string log_tail() const;

  // The folder that `scripts/kafka.sh jars` fills.
  static std::filesystem::path library();
  // Runs the Java program in this source file with Kafka's own classes; throws unless it ends well.
  // \returns what it printed.
  static std::string run_java(const std::filesystem::path& source, const std::vector<std::string>& arguments);

 private:
  void write_configuration();
  void launch();

  BrokerOptions options_;
  TemporaryDirectory directory_;
  std::map<std::string, std::uint16_t> ports_;
  std::unique_ptr<ChildProcess> process_;
};

}  // namespace forelock::test
