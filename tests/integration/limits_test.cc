// What the host limits: threads, descriptors. It may cost an acquisition, never the process.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "forelock/c.h"
#include "integration/fixture.h"
#include "support/limited_process.h"
#include "support/session_killer.h"
#include "support/test.h"
#include "support/wait_until.h"

namespace forelock::test {
namespace {

// What a child says with its exit code.
enum Outcome : int { granted = 0, told = 10, misled = 11, failed = 12 };

class LimitsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    server_ = new TestServer(quick_server());
    Client client(settings_for(server_->connect_string()));
    BlockingWriteLock lock(client, "limits", "limits");  // a server that has just been started takes its time
    ASSERT_TRUE(lock.try_lock_for(std::chrono::seconds(30)));
    lock.unlock();
  }
  static void TearDownTestSuite() { delete server_; }
  void SetUp() override {
    if (!can_be_another_user()) GTEST_SKIP() << "needs root";
  }

  static Settings settings() {
    return settings_for(server_->connect_string(), {{"zookeeper.connection.retry", "10"},
                                                    {"zookeeper.connection.delay", "100"},
                                                    {"zookeeper.session.timeout", "1000"}});
  }
  // Ends the client's session at the server; the client hears of it by itself.
  static bool end_session_of(const Client& client) {
    return end_session("127.0.0.1", server_->port(), client.session_id());
  }

  // The same by another process, which has the descriptors that this one lacks.
  static bool end_session_from_outside(const Client& client) {
    const pid_t child = fork();
    if (child == 0) {
      set_limit(RLIMIT_NOFILE, hard_limit(RLIMIT_NOFILE));
      _exit(end_session_of(client) ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    int status = 0;
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
  }

  static inline TestServer* server_ = nullptr;
};

Outcome judge(bool retryable, const std::string& message) {
  if (retryable && message.find("a limit of this process, its user or its container") != std::string::npos) return told;
  std::cerr << (retryable ? "retryable: " : "for good: ") << message << '\n';
  return misled;
}

Outcome lock_once(Client& client) {
  BlockingWriteLock lock(client, "limits", "limits");
  lock.lock_with_timeout();
  return granted;
}

TEST_F(LimitsTest, WithoutEnoughThreadsAnAcquisitionFailsAndSaysWhy) {
  int told_times = 0;
  int granted_times = 0;
  for (rlim_t most = 1; most <= 12; ++most) {
    const int outcome = run_as_another_user([most] {
      set_limit(RLIMIT_NPROC, most);
      try {
        Client client(settings());
        return lock_once(client);
      } catch (const Error& error) {
        return judge(error.retryable(), error.what());
      }
    });
    EXPECT_TRUE(outcome == told || outcome == granted) << "with " << most << ": " << outcome;
    if (outcome == told) ++told_times;
    if (outcome == granted) ++granted_times;
  }
  EXPECT_GT(told_times, 0);
  EXPECT_GT(granted_times, 0);
}

TEST_F(LimitsTest, TheCInterfaceSaysItAsWell) {
  int told_times = 0;
  for (rlim_t most = 1; most <= 12; ++most) {
    const int outcome = run_as_another_user([most]() -> int {
      set_limit(RLIMIT_NPROC, most);
      fl_config config = 0;
      fl_client client = 0;
      fl_lock lock = 0;
      fl_config_new(&config);
      fl_config_set(config, "zookeeper.servers", server_->connect_string().c_str());
      fl_config_set(config, "zookeeper.connection.retry", "10");
      fl_config_set(config, "zookeeper.connection.delay", "100");
      int code = fl_client_open(config, 0, &client);
      if (code == FL_OK) code = fl_lock_new(client, "limits", "limits", FL_FOREGROUND, nullptr, &lock);
      if (code == FL_OK) code = fl_lock_acquire(lock, FL_CONFIGURED);
      if (code == FL_OK) code = fl_client_free(client);
      return code == FL_OK ? granted : judge(fl_is_retryable(code) == 1, fl_last_message());
    });
    EXPECT_TRUE(outcome == told || outcome == granted) << "with " << most << ": " << outcome;
    if (outcome == told) ++told_times;
  }
  EXPECT_GT(told_times, 0);
}

TEST_F(LimitsTest, ASessionIsReplacedWhenThereAreThreadsAgain) {
  const int outcome = run_as_another_user([] {
    Client client(settings());
    if (lock_once(client) != granted) return failed;
    set_limit(RLIMIT_NPROC, 1);
    if (!end_session_of(client)) return failed;
    const auto says_why = [&] { return client.last_problem().find("no thread can be started") != std::string::npos; };
    if (!wait_until(says_why, 30s)) return misled;
    set_limit(RLIMIT_NPROC, hard_limit(RLIMIT_NPROC));
    if (!client.wait_connected(30s)) return failed;
    return lock_once(client);
  });
  EXPECT_EQ(outcome, granted);
}

TEST_F(LimitsTest, AnOperationThatGetsNoThreadIsRefused) {
  const int outcome = run_as_another_user([] {
    class Sink final : public DeadLetterSink {
      void accept(const DeadLetter&) override {}
    };
    Sink sink;
    Client client(settings());
    if (!client.wait_connected(30s)) return failed;
    OperationRunner runner(client, sink);
    set_limit(RLIMIT_NPROC, 1);
    try {
      runner.run_async(
          Operation{.type = "t", .monitor = "limits"}, [](auto, auto) {}, [](auto, auto) {});
    } catch (const Error& error) {
      return judge(error.retryable(), error.what());
    }
    return failed;
  });
  EXPECT_EQ(outcome, told);
}

// Its closing would wait for that callback, so it needs a thread of its own.
TEST_F(LimitsTest, AClientThatItsOwnCallbackDestroysEndsItsSession) {
  const int outcome = run_as_another_user([] {
    auto client = std::make_unique<Client>(settings_for(server_->connect_string()));
    if (!client->wait_connected(30s)) return failed;
    AsyncWriteLock lock(*client, "limits", "destroyed");
    set_limit(RLIMIT_NPROC, 1);
    std::atomic<bool> destroyed{false};
    lock.acquire([&](const std::exception_ptr&) {
      client.reset();
      destroyed = true;
    });
    if (!wait_until([&] { return destroyed.load(); }, 30s)) return failed;
    set_limit(RLIMIT_NPROC, hard_limit(RLIMIT_NPROC));
    Client other(settings());
    BlockingWriteLock again(other, "limits", "destroyed");
    return again.try_lock_for(2s) ? granted : failed;
  });
  EXPECT_EQ(outcome, granted);
}

TEST_F(LimitsTest, WithoutDescriptorsTheProcessGoesOn) {
  for (rlim_t most = 3; most <= 20; ++most) {
    const int outcome = run_as_another_user([most] {
      set_limit(RLIMIT_NOFILE, most);
      try {
        Client client(settings());
        return lock_once(client);
      } catch (const Error& error) {
        return error.retryable() ? told : misled;
      }
    });
    EXPECT_TRUE(outcome == told || outcome == granted) << "with " << most << ": " << outcome;
  }
}

TEST_F(LimitsTest, ASessionIsReplacedWhenThereAreDescriptorsAgain) {
  const int outcome = run_as_another_user([] {
    Client client(settings());
    if (lock_once(client) != granted) return failed;
    set_limit(RLIMIT_NOFILE, 3);  // before the session ends, else it is replaced at once
    if (!end_session_from_outside(client)) return failed;
    const auto says_why = [&] { return client.last_problem().find("Too many open files") != std::string::npos; };
    if (!wait_until(says_why, 30s)) {
      std::cerr << client.last_problem() << '\n';
      return misled;
    }
    set_limit(RLIMIT_NOFILE, hard_limit(RLIMIT_NOFILE));
    if (!client.wait_connected(30s)) return failed;
    return lock_once(client);
  });
  EXPECT_EQ(outcome, granted);
}

}  // namespace
}  // namespace forelock::test
