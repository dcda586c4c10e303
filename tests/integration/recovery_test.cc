// The session file: a killed process's locks are free when its successor starts, and never while anything of it lives.
#include <signal.h>
#include <unistd.h>

#include "integration/fixture.h"
#include "session_file/record.h"
#include "support/child_process.h"
#include "support/session_killer.h"
#include "support/tcp_proxy.h"
#include "support/temporary_directory.h"
#include "support/test.h"
#include "support/text_of.h"
#include "support/wait_until.h"

namespace forelock::test {
namespace {

using session_file::RecordState;

// Longer than any of the tests waits.
constexpr const char* session_timeout = "60000";

ServerOptions patient_server() {
  ServerOptions options = quick_server();
  options.config_lines = {"maxSessionTimeout=60000"};
  return options;
}

class RecoveryTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = new TestServer(patient_server()); }
  static void TearDownTestSuite() {
    delete server_;
    server_ = nullptr;
  }

  // Nothing of the one test is to be seen by the next.
  std::string servers() const {
    return server_->connect_string() + "/" + ::testing::UnitTest::GetInstance()->current_test_info()->name();
  }
  Settings settings(const std::string& servers) const {
    return settings_for(servers,
                        {{"zookeeper.session.file", path_.native()}, {"zookeeper.session.timeout", session_timeout}});
  }
  Settings settings() const { return settings(servers()); }
  // A process that holds P0, at least.
  void start_holder(const std::vector<std::string>& more = {}) {
    std::vector<std::string> command = {FORELOCK_SESSION_FILE_WORKER, servers(), "1",
                                        "zookeeper.session.file=" + path_.native(),
                                        std::string("zookeeper.session.timeout=") + session_timeout};
    command.insert(command.end(), more.begin(), more.end());
    const auto output = directory_.path() / "worker";
    holder_ = std::make_unique<ChildProcess>(std::move(command), output);
    ASSERT_TRUE(wait_until([&] { return text_of(output).ends_with('\n'); }));
    std::istringstream said(text_of(output));
    std::string word;
    ASSERT_TRUE(said >> word >> forked_ && word == "held") << text_of(output);
    ASSERT_EQ(recorded().state, RecordState::whole);
    sessions_ = recorded().record.sessions;
  }

  std::unique_ptr<Client> successor(const Settings& settings) {
    return std::make_unique<Client>(settings, [this](std::string_view level, std::string_view message) {
      const std::lock_guard guard(log_mutex_);
      log_ += std::string(level) + ": " + std::string(message) + "\n";
    });
  }
  std::unique_ptr<Client> successor() { return successor(settings()); }
  // One that has come and gone: what it had to end has ended when this returns.
  void succeed(const Settings& settings) {
    auto client = successor(settings);
    EXPECT_TRUE(client->wait_connected(20s));
    client->close();
  }
  void succeed() { succeed(settings()); }

  bool held(const std::string& monitor = "P0") const {
    const auto nodes = ephemeral_nodes(*server_);
    return std::any_of(nodes.begin(), nodes.end(), [&](const std::string& node) {
      return node.find(servers().substr(servers().find('/')) + "/" + monitor + "/") != std::string::npos;
    });
  }
  bool wait_until_free(const std::string& monitor = "P0") const {
    return wait_until([&] { return !held(monitor); }, 25s);
  }
  session_file::ReadRecord recorded() const { return session_file::read_record(text_of(path_)); }
  void write(const session_file::Record& record) const { std::ofstream(path_) << session_file::to_text(record); }
  std::string log() {
    const std::lock_guard guard(log_mutex_);
    return log_;
  }

  static TestServer* server_;
  TemporaryDirectory directory_;
  const std::filesystem::path path_ = directory_.path() / "app.session";
  std::unique_ptr<ChildProcess> holder_;
  pid_t forked_ = 0;
  std::vector<session_file::RecordedSession> sessions_;  // of the holder
  std::mutex log_mutex_;
  std::string log_;
};

TestServer* RecoveryTest::server_ = nullptr;

TEST_F(RecoveryTest, AKilledProcessIsSucceededAtOnce) {
  start_holder();
  holder_->kill();
  EXPECT_TRUE(held());
  const auto client = successor();
  BlockingWriteLock lock(*client, "successor", "P0");
  EXPECT_TRUE(lock.try_lock_for(25s));
  EXPECT_TRUE(wait_until([&] { return log().find("has been ended") != std::string::npos; })) << log();
  // The next one finds this client's session alone.
  EXPECT_TRUE(wait_until([&] { return recorded().record.sessions.size() == 1; }));
  EXPECT_EQ(recorded().record.sessions.at(0).id, client->session_id());
  lock.unlock();
}

TEST_F(RecoveryTest, AllClientsOfAProcessAreRecorded) {
  start_holder({"clients=2"});
  ASSERT_EQ(sessions_.size(), 2u);
  holder_->kill();
  EXPECT_TRUE(held("P0") && held("Q0"));
  succeed();
  EXPECT_FALSE(held("P0") || held("Q0")) << log();
  EXPECT_TRUE(recorded().record.sessions.empty());
}

TEST_F(RecoveryTest, AProcessThatLivesIsLeftAlone) {
  start_holder();
  for (const int number : {SIGCONT, SIGSTOP}) {
    holder_->signal(number);
    succeed();
    EXPECT_TRUE(held());
    EXPECT_THAT(log(), HasSubstr("warning: zookeeper.session.file: '" + path_.native()));
    EXPECT_THAT(log(), HasSubstr("is in use by another process: going on without it"));
  }
  EXPECT_EQ(recorded().record.sessions, sessions_) << "the file is the holder's";
}

// The other one has started before, as a successor may while the kernel still clears up.
TEST_F(RecoveryTest, AFileIsTakenOverWhenItsProcessDies) {
  start_holder();
  const auto client = successor();
  ASSERT_TRUE(client->wait_connected(20s));
  ASSERT_TRUE(wait_until([&] { return log().find("in use by another process") != std::string::npos; }));
  holder_->kill();
  EXPECT_TRUE(wait_until_free());
  EXPECT_TRUE(wait_until([&] {
    const auto sessions = recorded().record.sessions;
    return sessions.size() == 1 && sessions.at(0).id == client->session_id();
  }));
}

TEST_F(RecoveryTest, AForkedChildKeepsTheSession) {
  start_holder({"fork=1"});
  ASSERT_GT(forked_, 0);
  holder_->kill();
  succeed();
  EXPECT_TRUE(held()) << "part of the process lives";
  kill(forked_, SIGKILL);
  const auto client = successor();
  EXPECT_TRUE(wait_until_free());
}

TEST_F(RecoveryTest, AnotherEnsembleOrChrootIsLeftAlone) {
  start_holder();
  holder_->kill();
  succeed(settings(server_->connect_string() + "/elsewhere"));
  EXPECT_TRUE(held());
  const TcpProxy other_name(server_->port());
  succeed(settings(other_name.connect_string() + servers().substr(servers().find('/'))));
  EXPECT_TRUE(held());
  EXPECT_EQ(recorded().record.sessions, sessions_) << "its own successor is still to come";
  succeed();
  EXPECT_FALSE(held());
}

TEST_F(RecoveryTest, AnotherRunOfTheMachineIsLeftAlone) {
  start_holder();
  holder_->kill();
  session_file::Record record = recorded().record;
  record.boot[0] = record.boot[0] == '0' ? '1' : '0';
  write(record);
  succeed();
  EXPECT_TRUE(held());
  EXPECT_TRUE(recorded().record.sessions.empty());
}

TEST_F(RecoveryTest, ATornRecordIsNotActedOn) {
  start_holder();
  holder_->kill();
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) - 3);
  succeed();
  EXPECT_TRUE(held());
  EXPECT_THAT(log(), HasSubstr("the record of the process before is damaged"));
  EXPECT_EQ(recorded().state, RecordState::whole) << "it has been written anew";
}

TEST_F(RecoveryTest, AFileThatIsNotOursIsNotUsed) {
  start_holder();
  holder_->kill();
  chmod(path_.c_str(), 0640);
  succeed();
  EXPECT_THAT(log(), HasSubstr("can be accessed by others"));
  chmod(path_.c_str(), 0600);
  const auto moved = directory_.path() / "moved";
  std::filesystem::rename(path_, moved);
  std::filesystem::create_symlink(moved, path_);
  succeed();
  EXPECT_THAT(log(), HasSubstr("is a symbolic link"));
  std::filesystem::remove(path_);
  std::ofstream(path_) << "something = else\n";
  chmod(path_.c_str(), 0600);
  succeed();
  EXPECT_THAT(log(), HasSubstr("is not a session file"));
  EXPECT_EQ(text_of(path_), "something = else\n");
  EXPECT_TRUE(held());
}

TEST_F(RecoveryTest, TheRecordFollowsTheSession) {
  TcpProxy proxy(server_->port());
  const auto client = successor(settings(proxy.connect_string() + servers().substr(servers().find('/'))));
  ASSERT_TRUE(client->wait_connected(20s));
  const std::int64_t first = client->session_id();
  ASSERT_EQ(recorded().record.sessions.at(0).id, first) << "recorded before it is reported";
  proxy.cut_connections();
  EXPECT_TRUE(wait_until([&] { return client->statistics().disconnections == 1 && client->connected(); }));
  EXPECT_EQ(recorded().record.sessions.at(0).id, first);
  ASSERT_TRUE(end_session("127.0.0.1", server_->port(), first));
  proxy.cut_connections();
  EXPECT_TRUE(wait_until([&] { return client->connected() && client->session_id() != first; }));
  ASSERT_EQ(recorded().record.sessions.size(), 1u);
  EXPECT_EQ(recorded().record.sessions.at(0).id, client->session_id());
  client->close();
  EXPECT_TRUE(recorded().record.sessions.empty()) << "it has ended";
}

// Nothing waits for it, and the record is kept for a better day.
TEST_F(RecoveryTest, ServersThatDoNotAnswerAreOfNoConsequence) {
  start_holder();
  holder_->kill();
  server_->pause();
  {
    const auto client = successor();
    EXPECT_TRUE(wait_until([&] { return log().find("could not be ended") != std::string::npos; })) << log();
    EXPECT_EQ(recorded().record.sessions, sessions_);
  }
  server_->resume();
  EXPECT_TRUE(held());
  succeed();
  EXPECT_FALSE(held());
}

TEST_F(RecoveryTest, ThePasswordIsNowhereInTheLog) {
  start_holder();
  const std::string record = text_of(path_);
  const auto line = record.find("session ");
  ASSERT_NE(line, std::string::npos);
  const std::string password = record.substr(line + 25, 32);
  ASSERT_EQ(password.find_first_not_of("0123456789abcdef"), std::string::npos) << record;
  succeed();
  holder_->kill();
  succeed();
  EXPECT_FALSE(held());
  EXPECT_THAT(log(), ::testing::Not(HasSubstr(password)));
}

TEST_F(RecoveryTest, ProtectedNodesGoTooAndNeedTheCredentials) {
  const auto digest = directory_.path() / "digest";
  std::ofstream(digest) << "user:word\n";
  chmod(digest.c_str(), 0600);
  start_holder({"zookeeper.auth.digest.file=" + digest.native()});
  holder_->kill();
  Settings with = settings();
  with.set("zookeeper.auth.digest.file", digest.native());
  succeed(with);
  EXPECT_FALSE(held()) << log();
}

}  // namespace
}  // namespace forelock::test
