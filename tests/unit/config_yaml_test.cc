// Settings in YAML: nested and dotted keys, and what is refused.
#include "config/problems.h"
#include "config/yaml_properties.h"
#include "support/test.h"

namespace forelock::config {
namespace {

// The keys, or what is wrong.
std::vector<std::string> read(std::string_view text) {
  std::vector<std::string> lines;
  try {
    Problems problems;
    for (const Property& property : parse_yaml(text, "f.yaml", problems)) {
      lines.push_back(std::to_string(property.line) + " " + property.key + "=" + property.value);
    }
    problems.throw_if_any();
  } catch (const ConfigurationException& error) {
    lines.clear();
    for (const ConfigurationProblem& problem : error.problems()) lines.push_back(to_string(problem));
  }
  return lines;
}

TEST(Yaml, NestedAndDottedKeys) {
  EXPECT_THAT(read("zookeeper:\n  servers: a:1,b:2\n  session.timeout: 5s\n  foregound:\n    lock.prefix: 'A'\n"
                   "elastic.request:\n  retry.count: 3\nkafka: {ssl.key: {password: \"x\\ny\"}}\n"),
              ElementsAre("2 zookeeper.servers=a:1,b:2", "3 zookeeper.session.timeout=5s",
                          "5 zookeeper.foregound.lock.prefix=A", "7 elastic.request.retry.count=3",
                          "8 kafka.ssl.key.password=x\ny"));
}

TEST(Yaml, PlainTextStaysAsItIsWritten) {
  EXPECT_THAT(read("dlq: {a: 010, b: true, c: NO, d: 1e3, e: '~', f: 0x1F}"),
              ElementsAre("1 dlq.a=010", "1 dlq.b=true", "1 dlq.c=NO", "1 dlq.d=1e3", "1 dlq.e=~", "1 dlq.f=0x1F"));
}

TEST(Yaml, NoValueIsAnEmptyOne) {
  EXPECT_THAT(read("dlq.a:\ndlq.b: ~\ndlq.c: null\ndlq.d: ''"),
              ElementsAre("1 dlq.a=", "2 dlq.b=", "3 dlq.c=", "4 dlq.d="));
}

TEST(Yaml, NothingInIt) {
  for (const char* text :
       {"", "# only a comment\n", "---\n", "--- ~\n", "{}", "zookeeper:\n", "zookeeper: {}\n", "\xEF\xBB\xBF"}) {
    EXPECT_THAT(read(text), IsEmpty()) << text;
  }
}

TEST(Yaml, ByteOrderMarkIsSkipped) {
  EXPECT_THAT(read("\xEF\xBB\xBF"
                   "dlq.a: 1"),
              ElementsAre("1 dlq.a=1"));
}

TEST(Yaml, WhatBelongsToOthersMayBeAnything) {
  EXPECT_THAT(read("spring: &s {profiles: [a, {zookeeper.x: 1}], x: 1, x: 2}\nother: *s\n? [complex, key]\n"
                   ": 1\n~: 2\nelastic: [1, 2]\nzookeeper: text\ndlq.a: 1\n")
                  .back(),
              StartsWith("f.yaml:3: a key that is not one text"));
  EXPECT_THAT(read("spring: &s {profiles: [a, {zookeeper.x: 1}], x: 1, x: 2, ? [1] : 2, ? {a: b} : c, <<: *s}\n"
                   "other: *s\nelastic: [1, 2]\nzookeeper: text\ndlq.a: 1\n"),
              ElementsAre("5 dlq.a=1"));
}

TEST(Yaml, OurValuesAreSingleTexts) {
  EXPECT_THAT(
      read("zookeeper.servers: [a, b]\nzookeeper:\n  session.timeout: {a: 1}\n  x:\n    - 1\nkafka.a: [1]\n"),
      ElementsAre("f.yaml:1: zookeeper.servers: a list instead of one value, write one text, with commas between "
                  "several values",
                  "f.yaml:3: zookeeper.session.timeout: a mapping instead of one value, write one text, with commas "
                  "between several values",
                  "f.yaml:5: zookeeper.x: a list instead of one value, write one text, with commas between several "
                  "values",
                  "f.yaml:6: kafka.a: a list instead of one value, write one text, with commas between several "
                  "values"));
}

TEST(Yaml, AliasesAreNotForUs) {
  EXPECT_THAT(read("x: &x {servers: a}\nzookeeper: *x\ndlq.a: &y 1\ndlq.b: *y\nelastic:\n  <<: *x\n<<: *x\n*y : 1\n"),
              ElementsAre("f.yaml:2: zookeeper: an alias instead of a value, write the value itself",
                          "f.yaml:4: dlq.b: an alias instead of a value, write the value itself",
                          "f.yaml:6: elastic.<<: merging of mappings is not supported, write the keys themselves",
                          "f.yaml:7: <<: merging of mappings is not supported, write the keys themselves",
                          "f.yaml:8: a key that is an alias, write the key itself"));
}

TEST(Yaml, AliasBombsAreHarmless) {
  std::string bomb = "a0: &a0 [x]\n";
  for (int i = 1; i < 60; ++i) {
    const std::string previous = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + previous + "," + previous + "]\n";
  }
  EXPECT_THAT(read(bomb + "dlq.a: 1\n"), ElementsAre("61 dlq.a=1"));
}

TEST(Yaml, KeysThatAppearTwice) {
  EXPECT_THAT(read("dlq:\n  a: 1\n  a: 1\ndlq.a: 3\n"),
              ElementsAre("f.yaml:3: dlq.a: appears twice, first in line 2, keep one of the two",
                          "f.yaml:4: dlq.a: appears twice, first in line 2, keep one of the two"));
}

TEST(Yaml, RootMustBeAMapping) {
  EXPECT_THAT(read("- a\n- b\n"), ElementsAre("f.yaml:1: the document is a list, write 'key: value' lines"));
  EXPECT_THAT(read("text"), ElementsAre("f.yaml:1: the document is a single text, write 'key: value' lines"));
}

TEST(Yaml, OneDocumentOnly) {
  EXPECT_THAT(read("dlq.a: 1\n---\ndlq.a: 2\n"),
              ElementsAre("f.yaml: the file has more than one YAML document, keep the first, without '---' behind it"));
}

TEST(Yaml, TheEndMayBeMarked) {
  EXPECT_THAT(read("dlq.a: 1\n...\n"), ElementsAre("1 dlq.a=1"));
  EXPECT_THAT(read("dlq.a: |\n  1\n  2\n"), ElementsAre("1 dlq.a=1\n2\n"));
  EXPECT_THAT(read("# x\n...\n# y\n"), IsEmpty());
}

TEST(Yaml, WhatIsOpenedMustBeClosed) {
  for (const char* text : {"dlq:\n  a: 'x\n", "dlq:\n  a: 'x\nzookeeper.servers: a", "dlq.a: \"x\n", "dlq: {a: 1\n"}) {
    EXPECT_THAT(read(text),
                ElementsAre("f.yaml: not valid YAML: a quote or a bracket is still open at the end, close it"))
        << text;
  }
}

TEST(Yaml, SyntaxErrorsNameTheLine) {
  EXPECT_THAT(read("dlq:\n  a: 1\n b: 2\n"), ElementsAre(StartsWith("f.yaml:3: not valid YAML: ")));
  EXPECT_THAT(read("dlq: *nobody\n"), ElementsAre(StartsWith("f.yaml:1: not valid YAML: ")));
  EXPECT_THAT(read("dlq:\n\ta: 1\n"),
              ElementsAre(testing::AllOf(StartsWith("f.yaml:2: not valid YAML: "),
                                         testing::EndsWith("indent with spaces, not with tabs"))));
}

TEST(Yaml, BytesThatAreNoText) {
  EXPECT_THAT(read("dlq.a: 1\ndlq.b: \xff\n"), ElementsAre(StartsWith("f.yaml:2: a byte that is not UTF-8")));
  EXPECT_THAT(read(std::string_view("dlq.a: \0", 8)), ElementsAre(StartsWith("f.yaml: the file has a NUL character")));
}

TEST(Yaml, DeepNestingIsRefused) {
  const std::string error = "f.yaml: not valid YAML: nested too deeply, is it the right file?";
  EXPECT_THAT(read("x: " + std::string(100'000, '[')), ElementsAre(error));
  std::string deep = "kafka: ";
  for (int i = 0; i < 5'000; ++i) deep += "{k: ";
  EXPECT_THAT(read(deep), ElementsAre(error));
}

TEST(Yaml, LongKeysAreRefused) {
  EXPECT_THAT(read("kafka." + std::string(1018, 'k') + ": 1"), ElementsAre(StartsWith("1 kafka.kkk")));
  EXPECT_THAT(read("kafka: {" + std::string(1019, 'k') + ": 1}"),
              ElementsAre(testing::HasSubstr("the key is too long")));
}

}  // namespace
}  // namespace forelock::config
