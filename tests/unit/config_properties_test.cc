// The rules of java.util.Properties, one by one. tests/unit/config_properties_differential_test.cc asks Java itself.
#include "config/properties.h"
#include "support/test.h"

#include "forelock/configuration_error.h"

namespace forelock::config {
namespace {

using namespace std::string_literals;
using Values = std::map<std::string, std::string>;

struct Vector {
  std::string name;
  std::string text;
  Values values;
};

void PrintTo(const Vector& vector, std::ostream* out) {
  *out << testing::PrintToString(vector.text);
}

class PropertiesVector : public testing::TestWithParam<Vector> {};

TEST_P(PropertiesVector, IsReadAsJavaReadsIt) {
  Values values;
  for (const Property& property : parse_properties(GetParam().text, "f")) values[property.key] = property.value;
  EXPECT_EQ(values, GetParam().values);
}

const std::vector<Vector> vectors = {
    {"Empty", "", {}},
    {"OnlyBlanks", " \t\f\n\r\n \r", {}},
    {"Equals", "a=b", {{"a", "b"}}},
    {"Colon", "a:b", {{"a", "b"}}},
    {"Space", "a b", {{"a", "b"}}},
    {"Tab", "a\tb", {{"a", "b"}}},
    {"FormFeed", "a\fb", {{"a", "b"}}},
    {"KeyAlone", "a", {{"a", ""}}},
    {"EmptyValue", "a=", {{"a", ""}}},
    {"EmptyKey", "=b", {{"", "b"}}},
    {"BlanksAroundTheSeparator", "a \t = \f b", {{"a", "b"}}},
    {"OnlyOneSeparatorIsSkipped", "a==b", {{"a", "=b"}}},
    {"ColonAfterEquals", "a = :b", {{"a", ":b"}}},
    {"BlankThenColonThenEquals", "a :=b", {{"a", "=b"}}},
    {"SeparatorInTheValue", "a b=c:d", {{"a", "b=c:d"}}},
    {"TrailingBlanksStay", "a=b \t\n", {{"a", "b \t"}}},
    {"LeadingBlanksGo", " \t\fa=b", {{"a", "b"}}},
    {"LineFeed", "a=1\nb=2\n", {{"a", "1"}, {"b", "2"}}},
    {"CarriageReturn", "a=1\rb=2\r", {{"a", "1"}, {"b", "2"}}},
    {"Both", "a=1\r\nb=2\r\n", {{"a", "1"}, {"b", "2"}}},
    {"VerticalTabEndsNoLine", "a=1\vb=2", {{"a", "1\vb=2"}}},
    {"NextLineCharacterEndsNoLine", "a=1\u0085b", {{"a", "1\u0085b"}}},
    {"HashComment", "# a=b\n#\nc=d", {{"c", "d"}}},
    {"ExclamationComment", "!a=b\nc=d", {{"c", "d"}}},
    {"IndentedComment", " \t#a=b\nc=d", {{"c", "d"}}},
    {"NoCommentBehindAValue", "a=b # c", {{"a", "b # c"}}},
    {"NoContinuationOfAComment", "# a \\\nb=c", {{"b", "c"}}},
    {"CommentAtTheEnd", "a=b\n#", {{"a", "b"}}},
    {"EscapedCommentSign", "\\#a=b", {{"#a", "b"}}},
    {"Continuation", "a=b\\\n   c", {{"a", "bc"}}},
    {"ContinuationWithCarriageReturn", "a=b\\\r\tc", {{"a", "bc"}}},
    {"ContinuationWithBoth", "a=b\\\r\n\fc", {{"a", "bc"}}},
    {"TwoBackslashesContinueNothing", "a=b\\\\\nc=d", {{"a", "b\\"}, {"c", "d"}}},
    {"ThreeBackslashesContinue", "a=b\\\\\\\nc", {{"a", "b\\c"}}},
    {"ContinuationInTheKey", "a\\\n b=c", {{"ab", "c"}}},
    {"ContinuedLineMayBeginLikeAComment", "a=b\\\n#c", {{"a", "b#c"}}},
    {"ContinuedByAnEmptyLine", "a=b\\\n\nc=d", {{"a", "b"}, {"c", "d"}}},
    {"BackslashAtTheEnd", "a=b\\", {{"a", "b"}}},
    {"BackslashAndLineEndAtTheEnd", "a=b\\\n", {{"a", "b"}}},
    {"BackslashAloneThenComment", "\\\n#a=b\nc=d", {{"c", "d"}}},
    {"BackslashAloneInTheFile", "\\", {{"", ""}}},
    {"EscapedSeparators", "a\\=b\\:c\\ d=e", {{"a=b:c d", "e"}}},
    {"EscapedControls", "a=\\t\\n\\r\\f", {{"a", "\t\n\r\f"}}},
    {"EscapeOfAnythingElse", "a=\\b\\z\\\"\\0", {{"a", "bz\"0"}}},
    {"EscapedBackslash", "a=C:\\\\dir", {{"a", "C:\\dir"}}},
    {"LostBackslash", "a=C:\\dir", {{"a", "C:dir"}}},
    {"EscapedLeadingBlank", "a=\\ b", {{"a", " b"}}},
    {"UnicodeEscape", "\\u0061=\\u00e9\\u20AC", {{"a", "é€"}}},
    {"UnicodeEscapeIsNoSeparator", "a\\u003db=c", {{"a=b", "c"}}},
    {"UnicodeEscapeEndsNoLine", "a=b\\u000ac", {{"a", "b\nc"}}},
    {"UnicodeEscapeIsNotReadTwice", "a=\\u005cn", {{"a", "\\n"}}},
    {"UnicodeEscapeOfNul", "a=\\u0000", {{"a", "\0"s}}},
    {"UpperCaseUIsNoEscape", "a=\\U0041", {{"a", "U0041"}}},
    {"SurrogatePair", "a=\\uD83D\\uDE00", {{"a", "😀"}}},
    {"SurrogatePairOverAContinuation", "a=\\uD83D\\\n\\uDE00", {{"a", "😀"}}},
    {"LoneHighSurrogate", "a=\\uD83Dx", {{"a", "\uFFFDx"}}},
    {"LoneLowSurrogate", "a=\\uDE00", {{"a", "\uFFFD"}}},
    {"SurrogatesInTheWrongOrder", "a=\\uDE00\\uD83D", {{"a", "\uFFFD\uFFFD"}}},
    {"HighSurrogateTwice", "a=\\uD83D\\uD83D\\uDE00", {{"a", "\uFFFD😀"}}},
    {"Utf8", "schlüssel=wert 😀", {{"schlüssel", "wert 😀"}}},
    {"EscapedUtf8", "a=\\é\\😀", {{"a", "é😀"}}},
    {"ByteOrderMarkIsPartOfTheKey", "\uFEFFa=b", {{"\uFEFFa", "b"}}},
    {"NoBreakSpaceIsNoBlank", "a\u00a0b=c", {{"a\u00a0b", "c"}}},
    {"Nul", "a\0b=c\0"s, {{"a\0b"s, "c\0"s}}},
    {"LastValueWins", "a=1\nb=2\na=3", {{"a", "3"}, {"b", "2"}}},
    {"SameKeyInOtherSpelling", "a=1\n\\u0061=2", {{"a", "2"}}},
};

INSTANTIATE_TEST_SUITE_P(Rules, PropertiesVector, testing::ValuesIn(vectors),
                         [](const testing::TestParamInfo<Vector>& vector) { return vector.param.name; });

TEST(Properties, KnowTheLineWhereAKeyBegins) {
  const std::vector<Property> expected = {{"b", "2 3", 3}, {"c", "", 7}, {"a", "4", 9}, {"d", "", 12}};
  EXPECT_EQ(parse_properties("# one\r\n\r\nb=2 \\\r\n  3\r\n! five\r\n\r\n  c\r\n a=1\r\na=4\n\n\r d", "f"), expected);
}

TEST(Properties, KeepTheLineOfTheLastValue) {
  const std::vector<Property> expected = {{"a", "2", 3}, {"b", "", 2}};
  EXPECT_EQ(parse_properties("a=1\nb\na=2", "f"), expected);
}

std::string error_of(std::string_view text) {
  try {
    parse_properties(text, "conf/f.properties");
  } catch (const ConfigurationException& error) {
    return error.what();
  }
  return "";
}

TEST(Properties, RefuseMalformedEscapes) {
  for (const std::string text : {"\\u", "\\u1", "\\u12", "\\u123", "\\u123g", "\\uuuuu", "\\u+123", "\\u 123",
                                 "\\u12\\n3", "\\u00é", "\\u0x12", "\\u123\n4"}) {
    const std::string message =
        "a malformed \\uxxxx escape, write four hexadecimal digits after \\u, or \\\\ for a backslash";
    EXPECT_EQ(error_of("x=y\na=" + text), "conf/f.properties:2: " + message) << text;
    EXPECT_EQ(error_of("\n\n " + text + "=a"), "conf/f.properties:3: " + message) << text;
  }
  EXPECT_EQ(error_of("# \\u12 in a comment"), "");
}

TEST(Properties, RefuseWhatIsNotUtf8InOurKeys) {
  for (const std::string bytes :
       {"\x80", "\xff", "\xc3", "\xc3(", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
        "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xe2\x82", "\xf0\x9f\x98"}) {
    EXPECT_EQ(error_of("a=b\r\nc=d\rdlq.topic = " + bytes),
              "conf/f.properties:3: dlq.topic: a byte that is not UTF-8, save the file in the encoding UTF-8, or write "
              "\\uXXXX")
        << testing::PrintToString(bytes);
    EXPECT_NE(error_of("kafka.x" + bytes + "=1"), "") << testing::PrintToString(bytes);
    EXPECT_EQ(error_of("# " + bytes + "\n! " + bytes + "\na" + bytes + "=b" + bytes + "\n"), "")
        << testing::PrintToString(bytes);
  }
}

TEST(Properties, OfOthersInLatin1AreReadAsJavaReadsBytes) {
  const std::vector<Property> properties = parse_properties("t\xef tel=K\xf6ln\\u20ac\nx=K\xc3\xb6ln\n", "f");
  ASSERT_EQ(properties.size(), 2U);
  EXPECT_EQ(properties[0].key, "tï");
  EXPECT_EQ(properties[0].value, "tel=Köln€");
  EXPECT_EQ(properties[1].value, "Köln");
}

TEST(Properties, RefuseUtf16) {
  for (const std::string mark : {"\xFE\xFF", "\xFF\xFE"}) {
    EXPECT_EQ(error_of(mark + "a=b"), "conf/f.properties:1: the file is UTF-16, save the file in the encoding UTF-8");
  }
}

}  // namespace
}  // namespace forelock::config
