#include "support/test_broker.h"

#include <librdkafka/rdkafka.h>
#include <signal.h>
#include <sys/wait.h>

#include "support/free_port.h"
#include "support/text_of.h"
#include "support/wait_until.h"

namespace forelock::test {
namespace {

constexpr int start_attempts = 5;
constexpr const char* controller = "CONTROLLER";
constexpr const char* log_configuration = "-Dlog4j.configuration=file:" FORELOCK_KAFKA_FILES "/log4j.properties";

std::filesystem::path java_options() {
  const std::filesystem::path path = TestBroker::library() / "prepared" / "java.options";
  if (!std::filesystem::exists(path))
    throw std::runtime_error(path.string() + " is missing: run scripts/kafka.sh jars");
  return path;
}

// "12 (thread's name) T …": the state is behind the last parenthesis.
bool all_threads_stopped(pid_t process) {
  for (const auto& thread : std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/task")) {
    const std::string status = text_of(thread.path() / "stat");
    const std::size_t name_end = status.rfind(')');
    if (name_end != std::string::npos && status.compare(name_end, 3, ") T") != 0) return false;
  }
  return true;
}

// A client for metadata alone, which tries often.
class Probe {
 public:
  explicit Probe(const std::string& address) {
    rd_kafka_conf_t* settings = rd_kafka_conf_new();
    const std::pair<const char*, const char*> values[] = {{"bootstrap.servers", address.c_str()},
                                                          {"reconnect.backoff.ms", "10"},
                                                          {"reconnect.backoff.max.ms", "50"},
                                                          {"log_level", "0"}};
    char reason[256];
    for (const auto& [key, value] : values) rd_kafka_conf_set(settings, key, value, reason, sizeof reason);
    client_ = rd_kafka_new(RD_KAFKA_CONSUMER, settings, reason, sizeof reason);
    if (client_ == nullptr) throw std::runtime_error(reason);
  }
  ~Probe() { rd_kafka_destroy(client_); }
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;

  bool answered() {
    const rd_kafka_metadata_t* answer = nullptr;
    const auto error = rd_kafka_metadata(client_, 0, nullptr, &answer, 500);
    const bool known = error == RD_KAFKA_RESP_ERR_NO_ERROR && answer->broker_cnt > 0;
    if (answer != nullptr) rd_kafka_metadata_destroy(answer);
    return known;
  }

 private:
  rd_kafka_t* client_ = nullptr;
};

}  // namespace

std::filesystem::path TestBroker::library() {
  const char* given = std::getenv("FORELOCK_KAFKA_LIB");
  return given != nullptr ? given : FORELOCK_KAFKA_LIB_DEFAULT;
}

TestBroker::TestBroker(BrokerOptions options) : options_(std::move(options)) {
  java_options();  // says what to do if nothing has been fetched yet
  std::filesystem::copy(library() / "prepared" / "formatted", directory_.path() / "data");
  for (int attempt = 1;; ++attempt) {
    std::vector<std::string> names = {"PLAINTEXT", controller};
    names.insert(names.end(), options_.listeners.begin(), options_.listeners.end());
    const std::vector<std::uint16_t> ports = free_ports(static_cast<int>(names.size()));
    for (std::size_t index = 0; index < names.size(); ++index) ports_[names[index]] = ports[index];
    write_configuration();
    launch();
    if (wait_until_serving()) return;
    const bool ended = !running();
    kill();
    if (!ended || attempt == start_attempts) throw std::runtime_error("Kafka does not start:\n" + log_tail());
  }
}

TestBroker::~TestBroker() {
  kill();
}

std::string TestBroker::bootstrap(const std::string& listener) const {
  return "127.0.0.1:" + std::to_string(port(listener));
}

void TestBroker::write_configuration() {
  std::ofstream config(directory_.path() / "server.properties");
  config << text_of(std::filesystem::path(FORELOCK_KAFKA_FILES) / "server.properties") << "\nlisteners=";
  std::string advertised;
  for (const auto& [name, port] : ports_) {
    const std::string listener = name + "://" + bootstrap(name);
    config << (name == ports_.begin()->first ? "" : ",") << listener;
    if (name != controller) advertised += (advertised.empty() ? "" : ",") + listener;
  }
  config << "\nadvertised.listeners=" << advertised << "\ncontroller.quorum.voters=1@" << bootstrap(controller)
         << "\nlog.dirs=" << (directory_.path() / "data").string() << "\n";
  for (const std::string& line : options_.config_lines) config << line << "\n";
}

void TestBroker::launch() {
  process_ = std::make_unique<ChildProcess>(
      std::vector<std::string>{"java", "@" + java_options().string(), log_configuration,
                               "-Dforelock.log=" + (directory_.path() / "server.log").string(), "kafka.Kafka",
                               (directory_.path() / "server.properties").string()},
      directory_.path() / "output.log");
}

void TestBroker::kill() {
  if (process_) process_->kill();
}

void TestBroker::restart(bool wait) {
  kill();
  launch();
  if (wait && !wait_until_serving()) throw std::runtime_error("Kafka does not start again:\n" + log_tail());
}

void TestBroker::pause() {
  process_->signal(SIGSTOP);
  // The signal takes its time to reach threads that run; until then they answer.
  const pid_t id = process_->id();
  if (!wait_until([id] { return all_threads_stopped(id); })) throw std::runtime_error("Kafka does not stop");
}

void TestBroker::resume() {
  process_->signal(SIGCONT);
}

bool TestBroker::wait_until_serving(std::chrono::milliseconds timeout) {
  Probe probe(bootstrap());
  bool ended = false;
  const bool over = wait_until([&] { return (ended = !running()) || probe.answered(); }, timeout);
  return over && !ended;
}

std::string TestBroker::log_tail() const {
  const std::string text = text_of(directory_.path() / "output.log") + text_of(directory_.path() / "server.log");
  constexpr std::size_t limit = 4000;
  return text.size() > limit ? text.substr(text.size() - limit) : text;
}

std::string TestBroker::run_java(const std::filesystem::path& source, const std::vector<std::string>& arguments) {
  const TemporaryDirectory directory;
  std::vector<std::string> command = {"java", "@" + java_options().string(), log_configuration,
                                      "-Dforelock.log=/dev/null", source.string()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  ChildProcess process(std::move(command), directory.path() / "output");
  const int status = process.wait();
  std::string output = text_of(directory.path() / "output");
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) throw std::runtime_error(source.string() + ": " + output);
  return output;
}

}  // namespace forelock::test
