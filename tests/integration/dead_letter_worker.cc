// A process that dead-letters, for tests that kill it.
//
// dead_letter_worker OUTBOX JOURNAL KEY=VALUE...
//   name=WORD       ids are WORD-THREAD-NUMBER, monitors WORD-THREAD
//   letters=N       of each thread (0: none, only forwards)
//   threads=N
//   zookeeper=HOSTS  operations that fail for good, through OperationRunner; without it letters go straight to accept()
//   wait=flush      ends when the outbox is empty; wait=killed (the default): stays until it is killed
//   dlq.…=VALUE, kafka.…=VALUE   any setting
// JOURNAL gets a line "begun ID" before a letter is handed over, "accepted ID" after that has returned, "refused ID"
// if it threw, and "done" when all letters are; each in one write, so that a reader sees what had happened when the
// process died.
#include <fcntl.h>
#include <unistd.h>

#include "forelock/forelock.h"
#include "integration/dead_letters.h"

namespace forelock::test {
namespace {

class Journal {
 public:
  explicit Journal(const std::string& path)
      : file_(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) {
    if (file_ < 0) throw std::runtime_error("cannot open the journal " + path);
  }
  ~Journal() { close(file_); }
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  void note(const std::string& what, const std::string& id = {}) {
    const std::string line = what + (id.empty() ? "" : " " + id) + "\n";
    if (write(file_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
      throw std::runtime_error("cannot write the journal");
    }
  }

 private:
  int file_;
};

class Worker {
 public:
  Worker(const std::string& outbox, const std::string& journal, std::map<std::string, std::string> options)
      : journal_(journal), options_(std::move(options)) {
    settings_.set("dlq.outbox.path", outbox);
    settings_.set("elastic.request.retry.count", "1");
    if (options_.contains("zookeeper")) settings_.set("zookeeper.servers", options_["zookeeper"]);
    for (const auto& [key, value] : options_) {
      if (key.find('.') != std::string::npos) settings_.set(key, value);
    }
  }

  int run() {
    std::optional<Client> client;
    std::optional<OperationRunner> runner;
    DeadLetterQueue queue(settings_, [](std::string_view level, std::string_view message) {
      std::cout << std::string(level) + ": " + std::string(message) + "\n" << std::flush;
    });
    if (options_.contains("zookeeper")) {
      client.emplace(settings_);
      OperationRunnerOptions fast;
      fast.backoff = {std::chrono::milliseconds(1), std::chrono::milliseconds(1)};
      runner.emplace(*client, queue, fast);
    }
    std::vector<std::thread> threads;
    for (int i = 0; i < number("threads", 1); ++i) {
      threads.emplace_back([&, monitor = options_["name"] + "-" + std::to_string(i)] {
        for (int n = 0; n < number("letters", 1); ++n) {
          const DeadLetter letter = example_letter(monitor + "-" + std::to_string(n), monitor);
          journal_.note("begun", letter.id);
          try {
            if (runner) {
              run_operation(*runner, letter);
            } else {
              queue.accept(letter);
            }
            journal_.note("accepted", letter.id);
          } catch (const Error& error) {
            std::cout << std::string("refused: ") + error.what() + "\n" << std::flush;
            journal_.note("refused", letter.id);
          }
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    journal_.note("done");
    if (options_["wait"] == "flush") return queue.flush(std::chrono::minutes(1)) ? 0 : 1;
    for (;;) pause();
  }

 private:
  // The first attempt may be tried again, the second ends it.
  static void run_operation(OperationRunner& runner, const DeadLetter& letter) {
    Operation operation;
    operation.id = letter.id;
    operation.type = letter.type;
    operation.monitor = letter.monitor;
    operation.payload = letter.payload;
    const auto result = runner.run(operation, [](OperationAttempt& attempt) {
      throw OperationFailure("index_busy", "attempt " + std::to_string(attempt.number), true);
    });
    if (result.status != OperationResult::Status::dead_lettered) throw std::logic_error("it succeeded");
  }

  int number(const std::string& key, int otherwise) const {
    const auto found = options_.find(key);
    return found == options_.end() ? otherwise : std::stoi(found->second);
  }

  Settings settings_;
  Journal journal_;
  std::map<std::string, std::string> options_;
};

}  // namespace
}  // namespace forelock::test

int main(int count, char** arguments) {
  if (count < 3) return 64;
  std::map<std::string, std::string> options;
  for (int i = 3; i < count; ++i) {
    const std::string argument = arguments[i];
    const auto equals = argument.find('=');
    options[argument.substr(0, equals)] = argument.substr(equals + 1);
  }
  try {
    return forelock::test::Worker(arguments[1], arguments[2], options).run();
  } catch (const std::exception& problem) {
    std::cout << "unexpected: " << problem.what() << std::endl;
    return 1;
  }
}
