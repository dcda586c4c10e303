#include "lock/monitor_name.h"
#include "support/test.h"

namespace forelock::lock {
namespace {

std::string utf8(char32_t c) {
  const auto byte = [](char32_t bits) { return static_cast<char>(static_cast<unsigned char>(bits)); };
  if (c < 0x80) return {byte(c)};
  if (c < 0x800) return {byte(0xC0 | c >> 6), byte(0x80 | (c & 0x3F))};
  if (c < 0x10000) return {byte(0xE0 | c >> 12), byte(0x80 | (c >> 6 & 0x3F)), byte(0x80 | (c & 0x3F))};
  return {byte(0xF0 | c >> 18), byte(0x80 | (c >> 12 & 0x3F)), byte(0x80 | (c >> 6 & 0x3F)), byte(0x80 | (c & 0x3F))};
}

std::string encoded(std::string_view id) {
  return encode_monitor_name(id).name.value_or("<refused>");
}

TEST(MonitorName, IsTheIdWhereverTheServerTakesIt) {
  for (const std::string id :
       {"P1", "article 7", "a.b", "...", ".a", "Ärger", "価格", "zookeepers", "Zookeeper", "a-b"}) {
    EXPECT_EQ(encoded(id), id);
    EXPECT_EQ(decode_monitor_name(id), id);
  }
}

TEST(MonitorName, EscapesWhatTheServerRefuses) {
  EXPECT_EQ(encoded("a/b"), "a%2Fb");
  EXPECT_EQ(encoded("100%"), "100%25");
  EXPECT_EQ(encoded("."), "%2E");
  EXPECT_EQ(encoded(".."), "%2E%2E");
  EXPECT_EQ(encoded("zookeeper"), "%7Aookeeper");
  EXPECT_EQ(encoded(std::string("a\0b", 3)), "a%00b");
  EXPECT_EQ(encoded("\n\x1F\x7F"), "%0A%1F%7F");
  EXPECT_EQ(encoded("\u0080\u009F\u00A0"), "%C2%80%C2%9F\u00A0");
  EXPECT_EQ(encoded("\uE000"), "%EE%80%80");
  EXPECT_EQ(encoded("\uF8FF\uF900"), "%EF%A3%BF\uF900");
  EXPECT_EQ(encoded("\uFFEF\uFFF0\uFFFD"), "\uFFEF%EF%BF%B0%EF%BF%BD");
  EXPECT_EQ(encoded("\U00010000"), "%F0%90%80%80");
  EXPECT_EQ(encoded("\U0001F512"), "%F0%9F%94%92");
}

TEST(MonitorName, RefusesWhatIsNoId) {
  EXPECT_EQ(encode_monitor_name("").problem, "is empty");
  EXPECT_EQ(encode_monitor_name(std::string(256, 'a')).problem, "is longer than 255 bytes");
  EXPECT_EQ(encode_monitor_name(std::string(86, '/')).problem, "is longer than 255 bytes once encoded");
  EXPECT_EQ(encode_monitor_name("ab\xFF").problem, "is not valid UTF-8 (byte 3)");
  for (const std::string_view bad : {"\x80", "\xC3", "\xC0\xAF", "\xE0\x80\x80", "\xF0\x8F\xBF\xBF", "\xED\xA0\x80",
                                     "\xF4\x90\x80\x80", "\xF8\x88\x80\x80", "\xE2\x82", "\xE2\x28\xA1"}) {
    EXPECT_FALSE(encode_monitor_name(bad)) << bad;
  }
}

TEST(MonitorName, AllowsExactly255EncodedBytes) {
  EXPECT_TRUE(encode_monitor_name(std::string(255, 'a')));
  EXPECT_TRUE(encode_monitor_name(std::string(85, '/')));
}

TEST(MonitorName, EveryCodePointSurvivesAndIsAllowedInANode) {
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    if (c >= 0xD800 && c <= 0xDFFF) continue;
    const EncodedName name = encode_monitor_name(utf8(c));
    ASSERT_TRUE(name) << static_cast<std::uint32_t>(c);
    ASSERT_EQ(decode_monitor_name(*name.name), utf8(c));
    const bool as_is = *name.name == utf8(c);
    const bool refused =
        c <= 0x1F || (c >= 0x7F && c <= 0x9F) || (c >= 0xD800 && c <= 0xF8FF) || c >= 0xFFF0 || c == '/';
    ASSERT_EQ(as_is, !refused && c != '.' && c != '%') << static_cast<std::uint32_t>(c);
  }
}

TEST(MonitorName, RandomIdsRoundTripAndStayDifferent) {
  std::mt19937 random(7);  // NOLINT: the same ids in every run
  const std::string_view pieces[] = {"%", "2F", "/", ".", "..", "zookeeper", "A", "%25", "é", "\U0001F512", "\x01"};
  std::set<std::string> ids;
  std::set<std::string> names;
  for (int i = 0; i < 20000; ++i) {
    std::string id;
    const std::size_t length = 1 + random() % 6;
    for (std::size_t k = 0; k < length; ++k) id += pieces[random() % std::size(pieces)];
    const EncodedName name = encode_monitor_name(id);
    ASSERT_TRUE(name);
    ASSERT_EQ(decode_monitor_name(*name.name), id);
    ids.insert(id);
    names.insert(*name.name);
  }
  EXPECT_EQ(ids.size(), names.size());
}

TEST(MonitorName, ForeignNamesStandForThemselves) {
  for (const std::string name :
       {"50%", "%41", "%2f", "%zz", "%2", "%FF", "zookeeper", "%2E%2E%2E", "a%2Ea", "\xFF%2F"}) {
    EXPECT_EQ(decode_monitor_name(name), name);
  }
}

}  // namespace
}  // namespace forelock::lock
