// The command's log file: what bounds it, and what it survives.
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/log/rotating_file.h"
#include "support/temporary_directory.h"
#include "support/test.h"

namespace forelock::cli {
namespace {

class RotatingFileTest : public ::testing::Test {
 protected:
  std::string path(const std::string& end = "") const { return (folder_.path() / "log").string() + end; }
  static std::string text_of(const std::string& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder_.path()), {}));
  }
  static unsigned mode_of(const std::string& file) {
    struct stat status {};
    EXPECT_EQ(stat(file.c_str(), &status), 0) << file;
    return status.st_mode & 0777U;
  }

  test::TemporaryDirectory folder_;
};

TEST_F(RotatingFileTest, SizeAndNumberOfFilesAreBounded) {
  RotatingFile file(path(), {.bytes = 30, .files = 3});
  for (int i = 10; i < 40; ++i) EXPECT_FALSE(file.append("line " + std::to_string(i) + " 1\n"));  // 10 bytes each
  EXPECT_EQ(text_of(path()), "line 37 1\nline 38 1\nline 39 1\n");
  EXPECT_EQ(text_of(path(".1")), "line 34 1\nline 35 1\nline 36 1\n");
  EXPECT_EQ(text_of(path(".2")), "line 31 1\nline 32 1\nline 33 1\n");
  EXPECT_EQ(files(), 3u);
  for (const char* end : {"", ".1", ".2"}) EXPECT_EQ(mode_of(path(end)), 0600u) << end;
}

TEST_F(RotatingFileTest, AnotherProcessMayRenameIt) {
  RotatingFile one(path(), {.bytes = 20, .files = 3});
  RotatingFile other(path(), {.bytes = 20, .files = 3});
  for (const char* line : {"a 3456789\n", "b 3456789\n", "c 3456789\n"}) {
    EXPECT_FALSE(one.append(line));
    EXPECT_FALSE(other.append(line));
  }
  EXPECT_EQ(text_of(path(".2")) + text_of(path(".1")) + text_of(path()),
            "a 3456789\na 3456789\nb 3456789\nb 3456789\nc 3456789\nc 3456789\n");
}

TEST_F(RotatingFileTest, AFileThatIsRemovedIsMadeAnew) {
  RotatingFile file(path(), {});
  EXPECT_FALSE(file.append("first\n"));
  std::filesystem::remove(path());
  EXPECT_FALSE(file.append("second\n"));
  EXPECT_EQ(text_of(path()), "second\n");
  EXPECT_EQ(mode_of(path()), 0600u);
}

TEST_F(RotatingFileTest, AFileThatCannotBeRenamedStaysBounded) {
  std::filesystem::create_directory(path(".1"));
  std::ofstream(path(".1") + "/occupied") << "x";
  RotatingFile file(path(), {.bytes = 20, .files = 2});
  for (int i = 0; i < 9; ++i) EXPECT_FALSE(file.append("123456789\n"));
  EXPECT_LE(std::filesystem::file_size(path()), 20u);
}

TEST_F(RotatingFileTest, WhatCannotBeWrittenIsAnError) {
  const auto error_of = [](const std::string& name) {
    try {
      return RotatingFile(name, {}).append("x\n");
    } catch (const std::system_error& error) {
      return error.code();
    }
  };
  EXPECT_EQ(error_of(folder_.path()), std::errc::is_a_directory);
  EXPECT_EQ(error_of(path("/none/log")), std::errc::no_such_file_or_directory);
  EXPECT_EQ(error_of("/dev/full"), std::errc::no_space_on_device);
  ASSERT_EQ(mkfifo(path(".fifo").c_str(), 0600), 0);
  EXPECT_TRUE(error_of(path(".fifo")));
}

TEST_F(RotatingFileTest, ALineThatIsTornEndsBeforeTheNext) {
  RotatingFile file(path(), {});
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
  const rlimit small{4, limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::error_code error = file.append("123456789\n");
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  std::signal(SIGXFSZ, before);
  EXPECT_EQ(error, std::errc::file_too_large);
  EXPECT_FALSE(file.append("next\n"));
  EXPECT_EQ(text_of(path()), "1234\nnext\n");
}

}  // namespace
}  // namespace forelock::cli
