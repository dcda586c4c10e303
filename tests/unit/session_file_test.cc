// The file in which a process keeps its sessions: who may have it, for how long, and what is found in it.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session_file/session_file.h"
#include "support/temporary_directory.h"
#include "support/test.h"
#include "support/text_of.h"
#include "support/wait_until.h"

namespace forelock::session_file {
namespace {

using Reason = Refusal::Reason;

RecordedSession session(std::int64_t id, const std::string& ensemble = "zk:2181") {
  return {ensemble, id, {'s', 'e', 'c', 'r', 'e', 't'}};
}

std::vector<std::int64_t> ids(const std::vector<RecordedSession>& sessions) {
  std::vector<std::int64_t> all;
  for (const RecordedSession& each : sessions) all.push_back(each.id);
  return all;
}

using Ids = std::vector<std::int64_t>;

// A forked process that does something, says so, and lives on until it is killed.
class Forked {
 public:
  explicit Forked(const std::function<bool()>& work) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    id_ = fork();
    if (id_ == 0) {
      const char done = work() ? 'y' : 'n';
      if (write(ends[1], &done, 1) != 1) _exit(1);
      while (true) pause();
    }
    char done = 'n';
    EXPECT_EQ(read(ends[0], &done, 1), 1);
    EXPECT_EQ(done, 'y');
    close(ends[0]);
    close(ends[1]);
  }
  ~Forked() { kill(); }
  Forked(const Forked&) = delete;
  Forked& operator=(const Forked&) = delete;

  // It has stopped when this returns.
  void stop() const {
    ::kill(id_, SIGSTOP);
    int status = 0;
    EXPECT_EQ(waitpid(id_, &status, WUNTRACED), id_);
    EXPECT_TRUE(WIFSTOPPED(status));
  }
  void kill() {
    if (id_ <= 0) return;
    ::kill(id_, SIGKILL);
    waitpid(id_, nullptr, 0);
    id_ = 0;
  }

 private:
  pid_t id_ = 0;
};

class SessionFileTest : public ::testing::Test {
 protected:
  std::shared_ptr<SessionFile> take(bool make = true) const {
    auto opened = SessionFile::open(path_, make);
    if (const auto* refusal = std::get_if<Refusal>(&opened)) ADD_FAILURE() << refusal->message;
    auto* file = std::get_if<std::shared_ptr<SessionFile>>(&opened);
    return file != nullptr ? *file : nullptr;
  }
  Refusal refusal(const std::filesystem::path& path, bool make = true) const {
    auto opened = SessionFile::open(path, make);
    const auto* refused = std::get_if<Refusal>(&opened);
    if (refused == nullptr) ADD_FAILURE() << path << " was taken";
    return refused != nullptr ? *refused : Refusal{};
  }
  Refusal refusal() const { return refusal(path_); }
  bool locked() const {
    const auto opened = SessionFile::open(path_, false);
    const auto* refused = std::get_if<Refusal>(&opened);
    return refused != nullptr && refused->reason == Reason::locked;
  }
  // What a process with these sessions has written that has been killed since.
  Record left_behind(const Ids& sessions) const {
    const auto file = take();
    for (const std::int64_t& id : sessions) EXPECT_FALSE(file->record(&id, session(id)));
    return read_record(text()).record;
  }
  void write(const std::string& text, mode_t mode = 0600) const {
    std::ofstream(path_) << text;
    chmod(path_.c_str(), mode);
  }
  std::string text() const { return test::text_of(path_); }

  test::TemporaryDirectory directory_;
  const std::filesystem::path path_ = directory_.path() / "app.session";
};

TEST_F(SessionFileTest, IsMadeForThisUserAlone) {
  EXPECT_EQ(refusal(path_, false).reason, Reason::absent);
  const auto file = take();
  ASSERT_TRUE(file);
  EXPECT_EQ(file->found(), Found::nothing);
  struct stat status {};
  ASSERT_EQ(stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0600U);
  EXPECT_NE(fcntl(file->descriptor(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST_F(SessionFileTest, HoldsWhatItsLastProcessHad) {
  auto file = take();
  int first = 0;
  int second = 0;
  EXPECT_FALSE(file->record(&first, session(11)));
  EXPECT_FALSE(file->record(&second, session(12, "other:2181")));
  EXPECT_FALSE(file->record(&first, session(13))) << "another session in the place of an expired one";
  EXPECT_TRUE(file->claim("zk:2181").empty()) << "its own";
  file.reset();
  file = take(false);
  EXPECT_EQ(file->found(), Found::sessions);
  EXPECT_EQ(ids(file->left_behind()), (Ids{13, 12}));
  EXPECT_EQ(file->claim("zk:2181"), std::vector{session(13)});
  EXPECT_TRUE(file->claim("zk:2181").empty()) << "claimed twice";
  EXPECT_TRUE(file->claim("zk:2181/locks").empty()) << "another chroot";
  // As long as it is not known to have ended, it stays for the next process.
  EXPECT_FALSE(file->record(&first, session(14)));
  file.reset();
  file = take();
  EXPECT_EQ(ids(file->left_behind()), (Ids{13, 12, 14}));
  EXPECT_FALSE(file->forget(13));
  EXPECT_FALSE(file->forget(12));
  file.reset();
  EXPECT_EQ(ids(take()->left_behind()), Ids{14});
}

TEST_F(SessionFileTest, LosesSessionsThatHaveEnded) {
  auto file = take();
  int owner = 0;
  int other = 0;
  EXPECT_FALSE(file->record(&owner, session(11)));
  EXPECT_FALSE(file->record(&other, session(12)));
  EXPECT_FALSE(file->drop(&owner, true));
  EXPECT_FALSE(file->drop(&other, false));
  EXPECT_TRUE(file->claim("zk:2181").empty()) << "of this very process";
  file.reset();
  EXPECT_EQ(ids(take()->left_behind()), Ids{12});
}

TEST_F(SessionFileTest, HasALimit) {
  const auto file = take();
  std::vector<int> owners(most_sessions + 1);
  for (std::size_t i = 0; i < most_sessions; ++i) {
    EXPECT_FALSE(file->record(&owners[i], session(static_cast<std::int64_t>(i) + 1)));
  }
  EXPECT_EQ(file->record(&owners[most_sessions], session(4712)), std::errc::no_buffer_space);
  EXPECT_FALSE(file->drop(&owners[0], false));
  EXPECT_FALSE(file->record(&owners[most_sessions], session(4712))) << "in the place of one that nobody has";
  EXPECT_EQ(file->record(&owners[0], session(5, std::string(longest_ensemble + 1, 'x'))), std::errc::invalid_argument);
  EXPECT_EQ(file->record(&owners[0], session(5, "zk:2181/a\nb")), std::errc::invalid_argument);
  EXPECT_EQ(read_record(text()).state, RecordState::whole);
}

TEST_F(SessionFileTest, OfAnotherBootSaysNothing) {
  Record record = left_behind({11});
  record.boot += "0";
  write(to_text(record));
  const auto file = take();
  EXPECT_EQ(file->found(), Found::other_boot);
  EXPECT_TRUE(file->left_behind().empty());
  EXPECT_TRUE(file->claim("zk:2181").empty());
}

TEST_F(SessionFileTest, ThatIsTornSaysNothingAndIsWrittenOver) {
  std::string torn = to_text(left_behind({11, 12}));
  torn.resize(torn.size() - 5);
  write(torn);
  auto file = take();
  EXPECT_EQ(file->found(), Found::torn);
  EXPECT_TRUE(file->left_behind().empty());
  int owner = 0;
  EXPECT_FALSE(file->record(&owner, session(13)));
  file.reset();
  EXPECT_EQ(ids(take()->left_behind()), Ids{13});
}

// As long as the file itself is locked, its process may live.
TEST_F(SessionFileTest, ThatIsACopySaysNothing) {
  const auto file = take();
  int owner = 0;
  EXPECT_FALSE(file->record(&owner, session(11)));
  const auto copy = directory_.path() / "copy";
  std::filesystem::copy_file(path_, copy);
  std::filesystem::rename(copy, path_);
  const auto taken = take();
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->found(), Found::copied);
  EXPECT_TRUE(taken->left_behind().empty());
}

TEST_F(SessionFileTest, ThatWasMovedIsTheSame) {
  left_behind({11});
  const auto moved = directory_.path() / "moved";
  std::filesystem::rename(path_, moved);
  const auto opened = SessionFile::open(moved, false);
  ASSERT_TRUE(std::holds_alternative<std::shared_ptr<SessionFile>>(opened));
  EXPECT_EQ(ids(std::get<0>(opened)->left_behind()), Ids{11});
}

TEST_F(SessionFileTest, OfSomethingElseIsLeftAlone) {
  const std::string settings = "zookeeper.servers=localhost:2181\n";
  write(settings);
  EXPECT_EQ(refusal().reason, Reason::unusable);
  EXPECT_EQ(text(), settings);
}

TEST_F(SessionFileTest, ThatOthersCanReachIsRefused) {
  for (const mode_t mode : {0640U, 0604U, 0620U, 0601U}) {
    chmod(path_.c_str(), 0600);
    write(to_text(left_behind({11})), mode);
    EXPECT_EQ(refusal().reason, Reason::unusable) << mode;
    EXPECT_NE(refusal().message.find("can be accessed by others"), std::string::npos);
  }
  write("");
  chmod(path_.c_str(), 0600);
  EXPECT_TRUE(take());
}

TEST_F(SessionFileTest, OfAnotherUserIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to give the file away";
  write("");
  ASSERT_EQ(chown(path_.c_str(), 12345, 12345), 0);
  EXPECT_NE(refusal().message.find("belongs to another user (uid 12345)"), std::string::npos);
}

TEST_F(SessionFileTest, BehindAnotherNameIsRefused) {
  const auto target = directory_.path() / "target";
  std::ofstream(target).close();
  chmod(target.c_str(), 0600);
  std::filesystem::create_symlink(target, path_);
  EXPECT_NE(refusal().message.find("is a symbolic link"), std::string::npos);
  std::filesystem::remove(path_);
  std::filesystem::create_hard_link(target, path_);
  EXPECT_NE(refusal().message.find("hard link"), std::string::npos);
  std::filesystem::remove(path_);
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_NE(refusal().message.find("is not a regular file"), std::string::npos);
}

TEST_F(SessionFileTest, OnAnotherFileSystemIsRefused) {
  const Refusal refused = refusal("/proc/self/comm");
  EXPECT_EQ(refused.reason, Reason::unusable);
  EXPECT_NE(refused.message.find("file system"), std::string::npos) << refused.message;
}

TEST_F(SessionFileTest, InNoFolderIsRefused) {
  EXPECT_EQ(refusal(directory_.path() / "none" / "app.session").reason, Reason::absent);
}

TEST_F(SessionFileTest, IsRefusedWhileItsProcessLives) {
  Forked holder([this] {
    // Never given back: the process is to be killed with it.
    const auto* const file = new SessionFile::Opened(SessionFile::open(path_, true));
    return std::holds_alternative<std::shared_ptr<SessionFile>>(*file);
  });
  EXPECT_TRUE(locked());
  EXPECT_NE(refusal().message.find("in use by another process"), std::string::npos);
  holder.stop();
  EXPECT_TRUE(locked()) << "stopped is not dead";
  holder.kill();
  EXPECT_TRUE(test::wait_until([this] { return !locked(); }));
}

TEST_F(SessionFileTest, IsRefusedWhileAForkedChildLives) {
  auto file = take();
  Forked child([] { return true; });
  file.reset();
  EXPECT_TRUE(locked());
  child.kill();
  EXPECT_TRUE(test::wait_until([this] { return !locked(); }));
}

TEST_F(SessionFileTest, IsRefusedWhileACommandHasTheDescriptor) {
  auto file = take();
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const pid_t command = fork();
  if (command == 0) {
    fcntl(file->descriptor(), F_SETFD, 0);
    execlp("sleep", "sleep", "600", nullptr);
    _exit(127);
  }
  const pid_t without = fork();
  if (without == 0) {
    execlp("sleep", "sleep", "600", nullptr);
    _exit(127);
  }
  // Both have become their commands when nobody else has the pipe any more.
  close(ends[1]);
  char nothing = 0;
  EXPECT_EQ(read(ends[0], &nothing, 1), 0);
  close(ends[0]);
  file.reset();
  EXPECT_TRUE(locked());
  kill(command, SIGKILL);
  EXPECT_EQ(waitpid(command, nullptr, 0), command);
  EXPECT_TRUE(test::wait_until([this] { return !locked(); })) << "the other command has it too";
  kill(without, SIGKILL);
  EXPECT_EQ(waitpid(without, nullptr, 0), without);
}

TEST_F(SessionFileTest, IsSharedWithinAProcess) {
  auto first = SessionFile::of_process(path_);
  ASSERT_TRUE(std::holds_alternative<std::shared_ptr<SessionFile>>(first));
  auto second = SessionFile::of_process(directory_.path() / "." / "app.session");
  EXPECT_EQ(std::get<0>(first), std::get<0>(second));
  Forked child([this] {
    const auto own = SessionFile::of_process(path_);
    const auto* refused = std::get_if<Refusal>(&own);
    return refused != nullptr && refused->reason == Reason::locked;
  });
  first = Refusal{};
  second = Refusal{};
  EXPECT_TRUE(locked()) << "the child lives";
  child.kill();
  EXPECT_TRUE(test::wait_until([this] { return !locked(); }));
  EXPECT_TRUE(std::holds_alternative<std::shared_ptr<SessionFile>>(SessionFile::of_process(path_)));
}

TEST_F(SessionFileTest, OfARemovedNameIsNotTaken) {
  const auto old = take();
  std::filesystem::remove(path_);
  const auto made_anew = take();
  EXPECT_TRUE(made_anew) << "the old one's lock is another file's";
  EXPECT_EQ(made_anew->found(), Found::nothing);
}

}  // namespace
}  // namespace forelock::session_file
