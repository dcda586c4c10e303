// Compares parse_properties with java.util.Properties itself on many small nasty files, in one run of a JVM.
//
// FORELOCK_TEST_SEED chooses other files.
#include <stdlib.h>

#include "config/properties.h"
#include "forelock/configuration_error.h"
#include "support/test.h"

namespace forelock::config {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t small_files = 30'000;
constexpr std::size_t long_files = 400;

struct Answer {
  enum class Status : char { read = 0, refused = 1, not_utf8 = 2 };
  Status status = Status::read;
  std::map<std::string, std::string> values;

  bool operator==(const Answer&) const = default;
};

class NastyFiles {
 public:
  explicit NastyFiles(std::uint64_t seed) : random_(seed) {}

  std::string small() { return pieces(below(40)); }

  // Around the sizes of the buffers that Java reads with.
  std::string long_one() {
    std::string text = pieces(below(6));
    text.append(8170 + below(40), "a #\\ "[below(5)]);
    return text + pieces(below(30));
  }

 private:
  // The modulo's bias does no harm here, and unlike the standard's distributions gives the same files everywhere.
  std::size_t below(std::size_t bound) { return random_() % bound; }

  std::string pieces(std::size_t count) {
    static constexpr std::array common = {
        " "sv,  "\t"sv,      "\f"sv,      "\n"sv,      "\n"sv,      "\r"sv,      "\r\n"sv,       "\\"sv,
        "\\"sv, "\\\\"sv,    "\\\n"sv,    "\\\r\n"sv,  "\\\r"sv,    "="sv,       ":"sv,          "#"sv,
        "!"sv,  "\\="sv,     "\\:"sv,     "\\ "sv,     "\\#"sv,     "\\u0041"sv, "\\uD83D"sv,    "\\uDE00"sv,
        "a"sv,  "b"sv,       "k"sv,       "u"sv,       "n"sv,       "t"sv,       "key"sv,        "é"sv,
        "😀"sv,  "\\t"sv,     "\\n"sv,     "\\r"sv,     "\\f"sv,     "\\b"sv,     "\\é"sv,        "\\😀"sv,
        "0"sv,  "\\u00e9"sv, "\\u000a"sv, "\\u0020"sv, "\\u005C"sv, "k=v\n"sv,   "\\\n \\\n#"sv, "\\u003d"sv};
    static constexpr std::array rare = {"\\u12"sv,
                                        "\\uZZZZ"sv,
                                        "\\u004"sv,
                                        "\\u"sv,
                                        "\\u00\\u0041"sv,
                                        "\0"sv,
                                        "\v"sv,
                                        "\x7f"sv,
                                        "\u0085"sv,
                                        "\u2028"sv,
                                        "\uFEFF"sv,
                                        "\u00a0"sv,
                                        "\x1a"sv,
                                        "\xff"sv,
                                        "\xc0\x80"sv,
                                        "\xed\xa0\x80"sv,
                                        "\xe2\x82"sv,
                                        "\xf4\x90\x80\x80"sv,
                                        "\xf4\x8f\xbf\xbf"sv,
                                        "\xee\x80\x80"sv,
                                        "\\uFFFF"sv,
                                        "\\u0000"sv,
                                        "\\u+041"sv,
                                        "\\U0041"sv,
                                        "\\u０0041"sv};
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
      text += below(120) == 0 ? rare[below(rare.size())] : common[below(common.size())];
    }
    return text;
  }

  std::mt19937_64 random_;
};

Answer ask_ourselves(const std::string& file) {
  Answer answer;
  try {
    for (const Property& property : parse_properties(file, "f")) {
      const bool is_new = answer.values.emplace(property.key, property.value).second;
      EXPECT_TRUE(is_new) << "a key is returned twice";
    }
  } catch (const ConfigurationException& error) {
    const bool about_bytes = std::string_view(error.what()).find("not UTF-8") != std::string_view::npos;
    answer.status = about_bytes ? Answer::Status::not_utf8 : Answer::Status::refused;
    answer.values.clear();
  }
  return answer;
}

// The protocol of PropertiesOracle.java.
class Oracle {
 public:
  explicit Oracle(std::filesystem::path folder) : folder_(std::move(folder)) {}

  std::vector<Answer> ask(const std::vector<std::string>& files) {
    std::ofstream questions(folder_ / "in", std::ios::binary);
    for (const std::string& file : files) {
      for (int shift = 24; shift >= 0; shift -= 8) questions.put(static_cast<char>(file.size() >> shift));
      questions << file;
    }
    questions.close();
    const std::string command = "'" FORELOCK_JAVA "' -Xmx256m '" FORELOCK_PROPERTIES_ORACLE "' < '" +
                                (folder_ / "in").string() + "' > '" + (folder_ / "out").string() + "'";
    if (std::system(command.c_str()) != 0) return {};
    answers_.open(folder_ / "out", std::ios::binary);
    std::vector<Answer> answers;
    for (std::size_t i = 0; i < files.size() && answers_; ++i) answers.push_back(next());
    return answers;
  }

 private:
  Answer next() {
    Answer answer;
    answer.status = static_cast<Answer::Status>(answers_.get());
    if (answer.status != Answer::Status::read) return answer;
    for (std::uint32_t left = number(); left > 0 && answers_; --left) {
      const std::string key = text();
      answer.values[key] = text();
    }
    return answer;
  }

  std::uint32_t number() {
    std::uint32_t value = 0;
    for (int i = 0; i < 4; ++i) value = value << 8 | static_cast<std::uint32_t>(answers_.get() & 0xFF);
    return value;
  }

  std::string text() {
    std::string bytes(number(), '\0');
    answers_.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return bytes;
  }

  std::filesystem::path folder_;
  std::ifstream answers_;
};

std::uint64_t seed() {
  const char* const chosen = std::getenv("FORELOCK_TEST_SEED");
  return chosen != nullptr ? std::strtoull(chosen, nullptr, 10) : 20240607;
}

TEST(PropertiesDifferential, ReadsWhatJavaReads) {
  std::string folder = (std::filesystem::temp_directory_path() / "forelock-properties-XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);

  NastyFiles generator(seed());
  std::vector<std::string> files;
  for (std::size_t i = 0; i < small_files; ++i) files.push_back(generator.small());
  for (std::size_t i = 0; i < long_files; ++i) files.push_back(generator.long_one());

  const std::vector<Answer> expected = Oracle(folder).ask(files);
  std::filesystem::remove_all(folder);
  ASSERT_EQ(expected.size(), files.size()) << "the Java program did not answer every file";

  std::map<Answer::Status, std::size_t> statuses;
  std::size_t keys = 0;
  std::size_t failures = 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    ++statuses[expected[i].status];
    keys += expected[i].values.size();
    const Answer actual = ask_ourselves(files[i]);
    if (actual == expected[i]) continue;
    // Read strictly, Java takes no byte that is not UTF-8; we leave those of other applications' keys to them.
    if (expected[i].status == Answer::Status::not_utf8 && actual.status != Answer::Status::not_utf8) continue;
    ADD_FAILURE() << "seed " << seed() << ", file " << i << ": " << testing::PrintToString(files[i])
                  << "\nJava:  status " << static_cast<int>(expected[i].status) << " "
                  << testing::PrintToString(expected[i].values) << "\nours:  status " << static_cast<int>(actual.status)
                  << " " << testing::PrintToString(actual.values);
    if (++failures == 5) break;
  }
  // The generator must keep making files of every kind, or the comparison says little.
  EXPECT_GT(statuses[Answer::Status::read], files.size() / 2);
  EXPECT_GT(statuses[Answer::Status::refused], 500U);
  EXPECT_GT(statuses[Answer::Status::not_utf8], 500U);
  EXPECT_GT(keys, files.size());
  RecordProperty("files", static_cast<int>(files.size()));
  RecordProperty("keys", static_cast<int>(keys));
}

}  // namespace
}  // namespace forelock::config
