// The file with the credentials, and who else may read it.
#include "config/private_file.h"
#include "config_reading.h"

namespace forelock {
namespace {

TEST(Digest, IsReadFromItsFile) {
  const Folder folder;
  const auto digest = [&folder](std::string_view text, mode_t mode = 0600) {
    const std::filesystem::path file = folder.write("digest", text, mode);
    return read("\nzookeeper.auth.digest.file=" + file.string()).load_digest();
  };
  EXPECT_EQ(digest("user:pass word:x"), "user:pass word:x");
  EXPECT_EQ(digest("user:pässword\n"), "user:pässword");
  EXPECT_EQ(digest("user:password\r\n", 0400), "user:password");
  for (const std::string wrong :
       {"", "\n", "user", "user:", ":password", "user:password\n\n", "user:a\nuser:b\n", " a\tb:c"}) {
    EXPECT_THAT(problems_of([&] { digest(wrong); }),
                ElementsAre("f:2: zookeeper.auth.digest.file: '" + (folder.path() / "digest").string() +
                            "' does not contain one line user:password, write exactly that one line"))
        << wrong;
    ::chmod((folder.path() / "digest").c_str(), 0600);
  }
  EXPECT_THAT(problems_of([&] { digest("u:" + std::string(5000, 'x')); }).size(), 1U);
}

std::ptrdiff_t open_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

TEST(Digest, OfAProgramIsInMemoryAlone) {
  const std::ptrdiff_t before = open_descriptors();
  Settings settings = read("\n");
  settings.set({{"zookeeper.auth.digest", "user:hunter2", "the program"}});
  EXPECT_EQ(entry(settings, "zookeeper.auth.digest.file"), "****** (the program) secret");
  EXPECT_EQ(settings.acl(), AclMode::creator_all);
  const Settings copy = settings;
  settings.set("zookeeper.auth.digest.file", "/nowhere");
  EXPECT_EQ(copy.load_digest(), "user:hunter2");
  EXPECT_EQ(copy.load_digest(), "user:hunter2") << "as often as there are connections";
  EXPECT_EQ(copy.auth_digest_file(), "") << "there is no file that could be missing, or another's by now";
  EXPECT_EQ(open_descriptors(), before) << "nor a descriptor that a program could close";
  // Others can see these.
  const std::string key = "zookeeper.auth.digest";
  EXPECT_THAT(problems_in(key + "=user:hunter2\n"), ElementsAre(HasSubstr("nearest known key is " + key + ".file")));
  EXPECT_THAT(problems_in("\n", {{key, "user:hunter2"}}), ElementsAre(HasSubstr("known key is " + key + ".file")));
}

TEST(Digest, MustBeItsOwnersAlone) {
  const Folder folder;
  for (const mode_t mode : {0644u, 0640u, 0604u, 0620u, 0602u, 0610u, 0660u}) {
    const std::filesystem::path file = folder.write("digest", "user:hunter2", mode);
    const Settings settings = read("zookeeper.auth.digest.file=" + file.string());
    EXPECT_THAT(
        problems_of([&] { settings.load_digest(); }),
        ElementsAre(testing::AllOf(HasSubstr("can be accessed by others (mode 06"),
                                   EndsWith("give it mode 0600 (chmod 600)"), testing::Not(HasSubstr("hunter2")))));
  }
}

// As PostgreSQL has it for its keys: secrets that are mounted into containers belong to root and a group.
TEST(Digest, MayBeRootsForAGroupThatReadsIt) {
  constexpr uid_t root = 0;
  constexpr uid_t user = 1000;
  for (const mode_t mode : {0400u, 0440u, 0600u, 0640u, 0100440u}) {
    EXPECT_FALSE(config::ownership_fault(root, mode, user)) << std::oct << mode;
  }
  for (const mode_t mode : {0444u, 0644u, 0660u, 0420u, 0450u, 0402u, 0401u, 0404u}) {
    const auto fault = config::ownership_fault(root, mode, user);
    ASSERT_TRUE(fault) << std::oct << mode;
    EXPECT_THAT(fault->message, HasSubstr("belongs to root and can be accessed by others"));
    EXPECT_THAT(fault->hint, HasSubstr("0440 and a group of this process"));
  }
  EXPECT_THAT(config::ownership_fault(root, 0640, root)->message, HasSubstr("mode 0640")) << "its own";
  EXPECT_FALSE(config::ownership_fault(user, 0600, user));
  EXPECT_THAT(config::ownership_fault(user, 0640, user)->hint, HasSubstr("0600"));
  for (const mode_t mode : {0400u, 0440u, 0640u}) {
    EXPECT_THAT(config::ownership_fault(1001, mode, user)->message, HasSubstr("belongs to another user (uid 1001)"));
  }
}

TEST(Digest, MustBeAFileThatCanBeRead) {
  const Folder folder;
  const Settings none = read("zookeeper.auth.digest.file=" + (folder.path() / "none").string());
  EXPECT_THAT(problems_of([&] { none.load_digest(); }), ElementsAre(HasSubstr("No such file or directory")));
  const Settings directory = read("zookeeper.auth.digest.file=" + folder.path().string());
  EXPECT_THAT(problems_of([&] { directory.load_digest(); }), ElementsAre(HasSubstr("is not a regular file")));
}

}  // namespace
}  // namespace forelock
