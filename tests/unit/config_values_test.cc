// Numbers, durations, sizes, lists of servers, and what the other types of settings accept.
#include "config/edit_distance.h"
#include "config/option_table.h"
#include "config/printable.h"
#include "config/quantity.h"
#include "config/server_list.h"
#include "config/value_parser.h"
#include "support/test.h"

namespace forelock::config {
namespace {

TEST(Quantity, Numbers) {
  EXPECT_EQ(parse_number("0"), 0);
  EXPECT_EQ(parse_number("0042"), 42);
  EXPECT_EQ(parse_number("9223372036854775807"), 9223372036854775807);
  for (const char* wrong : {"", "-1", "-0", "+1", " 1", "1 ", "1.0", "0x1", "1e3", "9223372036854775808", "eins"}) {
    EXPECT_EQ(parse_number(wrong), std::nullopt) << wrong;
  }
}

TEST(Quantity, Durations) {
  EXPECT_EQ(parse_duration("2000"), 2000ms);
  EXPECT_EQ(parse_duration("250ms"), 250ms);
  EXPECT_EQ(parse_duration("2s"), 2s);
  EXPECT_EQ(parse_duration("5m"), 5min);
  EXPECT_EQ(parse_duration("1h"), 1h);
  EXPECT_EQ(parse_duration("3d"), 72h);
  EXPECT_EQ(parse_duration("1.5s"), 1500ms);
  EXPECT_EQ(parse_duration("0.25h"), 15min);
  EXPECT_EQ(parse_duration("1.000ms"), 1ms);
  EXPECT_EQ(parse_duration("0"), 0ms);
  for (const char* wrong : {"", "ms", "s", "-1s", "1 s", "1.5", "1.s", ".5s", "1.5.5s", "1.-5s", "0.5ms", "1.0005s",
                            "1.0000000s", "1S", "1sec", "9223372036854775807.5d", "1m30s", "9223372036854775807s"}) {
    EXPECT_EQ(parse_duration(wrong), std::nullopt) << wrong;
  }
}

TEST(Quantity, Sizes) {
  EXPECT_EQ(parse_size("4096"), 4096);
  EXPECT_EQ(parse_size("1KiB"), 1024);
  EXPECT_EQ(parse_size("256MiB"), 268435456);
  EXPECT_EQ(parse_size("256 MiB"), 268435456);
  EXPECT_EQ(parse_size("2GiB"), std::int64_t{2} << 30);
  for (const char* wrong :
       {"", "MiB", " MiB", "1  MiB", "1 MiB ", "1MB", "1mib", "1K", "1 2", "-1", "9007199254740992GiB"}) {
    EXPECT_EQ(parse_size(wrong), std::nullopt) << wrong;
  }
}

TEST(Servers, AreRead) {
  const auto read = [](std::string_view text) {
    const auto list = parse_server_list(text);
    const Fault* const fault = std::get_if<Fault>(&list);
    return fault != nullptr ? fault->message : std::get<ServerList>(list).to_string();
  };
  EXPECT_EQ(read("localhost:2181"), "localhost:2181");
  EXPECT_EQ(read("zk1"), "zk1:2181");
  EXPECT_EQ(read(" zk1:1 , zk-2.example.org:65535,10.0.0.1 "), "zk1:1,zk-2.example.org:65535,10.0.0.1:2181");
  EXPECT_EQ(read("[::1]:2182,[fe80::1%eth0]"), "[::1]:2182,[fe80::1%eth0]:2181");
  EXPECT_EQ(read("zk1:2181,zk2:2181/forelock/test"), "zk1:2181,zk2:2181/forelock/test");
  EXPECT_EQ(read("zk1:2181/"), "zk1:2181");
  const auto list = std::get<ServerList>(parse_server_list("[::1]/a"));
  EXPECT_EQ(list.servers, (std::vector<ServerAddress>{{"::1", 2181}}));
  EXPECT_EQ(list.chroot, "/a");
}

TEST(Servers, AreRefused) {
  const auto message = [](std::string_view text) {
    const auto list = parse_server_list(text);
    const Fault* const fault = std::get_if<Fault>(&list);
    return fault != nullptr && !fault->hint.empty() ? fault->message : "no fault or no hint";
  };
  for (const char* empty : {"", " ", ",", "a:1,", ",a:1", "a:1,,b:1", "/forelock"}) {
    EXPECT_EQ(message(empty), "a server is missing in the list") << empty;
  }
  for (const char* port : {"a:", "a:0", "a:65536", "a:-1", "a:x", "a: 1", "[::1]2181", "[::1]:"}) {
    EXPECT_THAT(message(port), HasSubstr(" has no valid port")) << port;
  }
  for (const char* name : {":2181", "a b:1", "ä:1", "http//:1"}) {
    EXPECT_THAT(message(name),
                testing::AnyOf(HasSubstr("is not the name"), HasSubstr("is missing"), HasSubstr("chroot")))
        << name;
  }
  for (const char* separated : {"a;b:1", "a:1;b:1", "a:1; b:1/forelock", ";"}) {
    EXPECT_THAT(message(separated), HasSubstr("' has a ';'")) << separated;
  }
  EXPECT_EQ(std::get<ServerList>(parse_server_list("a:1/x;y")).chroot, "/x;y");
  for (const char* placeholder : {"${ZK_HOSTS:localhost:2181}", "${ZK_HOSTS}", "a:1,${B}", "${A}|b:1", "a:1/${C}"}) {
    EXPECT_THAT(message(placeholder), HasSubstr("has a placeholder")) << placeholder;
  }
  for (const char* bare : {"::1", "fe80::1:2181", "a:1:2", "a:1 b:2"})
    EXPECT_THAT(message(bare), HasSubstr("lacks brackets")) << bare;
  for (const char* ipv6 : {"[::1", "[]:1", "[localhost]:1", "[::1%]:1", "["}) {
    EXPECT_THAT(message(ipv6), HasSubstr("is not an IPv6 address in brackets")) << ipv6;
  }
  for (const char* chroot :
       {"a:1/x/", "a:1//x", "a:1/x//y", "a:1/.", "a:1/../x", "a:1/x,b:1/x", "a:1/x y", "a:1/\x7f"}) {
    EXPECT_THAT(message(chroot), HasSubstr("the chroot")) << chroot;
  }
}

TEST(Servers, OfSeveralEnsemblesAreRefused) {
  for (const char* several : {"|", "a|", "|a", "a|b", "a:1/x|b:1/x", "zk1,zk2|zk3"}) {
    const auto list = parse_server_list(several);
    const Fault* const fault = std::get_if<Fault>(&list);
    ASSERT_NE(fault, nullptr) << several;
    EXPECT_EQ(fault->message, "'" + std::string(several) + "' has a '|'");
    EXPECT_THAT(fault->hint, HasSubstr("docs/scale.md"));
  }
}

std::string outcome(OptionId id, std::string_view text) {
  const auto value = parse_value(option(id), text);
  if (const Fault* const fault = std::get_if<Fault>(&value)) return fault->message + "; " + fault->hint;
  return std::get<ParsedValue>(value).text;
}

TEST(Value, BlanksAroundItDoNotCount) {
  EXPECT_EQ(outcome(OptionId::session_timeout, " \t5s \f"), "5000");
}

TEST(Value, RangesAreKept) {
  EXPECT_EQ(outcome(OptionId::session_timeout, "1"), "1");
  EXPECT_EQ(outcome(OptionId::session_timeout, "2147483647"), "2147483647");
  for (const char* wrong : {"0", "2147483648", "99999m"}) {
    EXPECT_THAT(outcome(OptionId::session_timeout, wrong), HasSubstr("choose a value from 1 to 2147483647 ms"))
        << wrong;
  }
  EXPECT_EQ(outcome(OptionId::foreground_timeout, "0"), "0");
  EXPECT_EQ(outcome(OptionId::request_retry_count, "1000"), "1000");
  EXPECT_THAT(outcome(OptionId::request_retry_count, "1001"), HasSubstr("out of range"));
  EXPECT_THAT(outcome(OptionId::outbox_max_bytes, "0"), HasSubstr("out of range"));
  EXPECT_THAT(outcome(OptionId::connection_retry, "5s"), HasSubstr("'5s' is not a whole number; write digits only"));
  EXPECT_THAT(outcome(OptionId::connection_delay, ""), HasSubstr("'' is not a duration"));
}

TEST(Value, Prefixes) {
  for (const char* good : {"A", "z", "lock_1", "FG", "privateLock2", "0", "."}) {
    EXPECT_EQ(outcome(OptionId::foreground_prefix, good), good);
  }
  for (const char* bad : {"", " ", "A-", "-", "a/b", "a b", "ä", "a\x01", "\x7f"}) {
    EXPECT_THAT(outcome(OptionId::foreground_prefix, bad), HasSubstr("cannot begin a node's name")) << bad;
  }
  EXPECT_EQ(outcome(OptionId::foreground_prefix, std::string(64, 'a')), std::string(64, 'a'));
  EXPECT_THAT(outcome(OptionId::foreground_prefix, std::string(65, 'a')), HasSubstr("cannot begin"));
  for (const char* reserved : {"p", "private", "privateLock"}) {
    EXPECT_THAT(outcome(OptionId::foreground_prefix, reserved), HasSubstr("reserved name")) << reserved;
  }
}

TEST(Value, TopicsPathsAndChoices) {
  EXPECT_EQ(outcome(OptionId::dlq_topic, "a.b_c-1"), "a.b_c-1");
  EXPECT_EQ(outcome(OptionId::dlq_topic, std::string(240, 't')).size(), 240U);
  for (const std::string& bad : {std::string(), std::string("."), std::string(".."), std::string("a b"),
                                 std::string("ä"), std::string(241, 't')}) {
    EXPECT_THAT(outcome(OptionId::dlq_topic, bad), HasSubstr("is not a Kafka topic's name")) << bad;
  }
  EXPECT_EQ(outcome(OptionId::outbox_path, "/var/lib/o.db"), "/var/lib/o.db");
  EXPECT_THAT(outcome(OptionId::outbox_path, "~/o.db"), HasSubstr("is not expanded"));
  EXPECT_THAT(outcome(OptionId::outbox_path, "$XDG_STATE_HOME/o.db"), HasSubstr("is not expanded"));
  EXPECT_THAT(outcome(OptionId::outbox_path, "/var/lib/"), HasSubstr("is a folder"));
  EXPECT_EQ(outcome(OptionId::watch, "predecessor"), "predecessor");
  EXPECT_EQ(outcome(OptionId::watch, "Parent"), "'Parent' is not known; write parent or predecessor");
  EXPECT_EQ(outcome(OptionId::acl, "world"), "'world' is not known; write creator-all or open");
  EXPECT_THAT(outcome(OptionId::acl, ""), HasSubstr("is not known"));
  EXPECT_THAT(outcome(OptionId::kafka_servers, std::string_view("a\0b", 3)), HasSubstr("NUL"));
}

TEST(OptionTable, DefaultsAreValid) {
  for (const Option& option : options()) {
    if (option.fallback.empty()) continue;
    const auto value = parse_value(option, option.fallback);
    ASSERT_TRUE(std::holds_alternative<ParsedValue>(value)) << option.key;
    EXPECT_EQ(std::get<ParsedValue>(value).text, option.fallback) << option.key;
    EXPECT_TRUE(is_own_key(option.key)) << option.key;
    EXPECT_EQ(find_option(option.key), &option);
  }
  EXPECT_EQ(find_option(""), nullptr);
}

TEST(OptionTable, KnowsWhoseAKeyIs) {
  for (const char* own : {"zookeeper.x", "zookeeper.", "elastic.request.retry.x", "dlq.x", "kafka.x"}) {
    EXPECT_TRUE(is_own_key(own)) << own;
  }
  for (const char* foreign :
       {"", "zookeeper", "zookeepers.x", "elastic.request.timeout", "elastic.x", "Kafka.x", "x.dlq."}) {
    EXPECT_FALSE(is_own_key(foreign)) << foreign;
  }
  for (const char* way :
       {"", "zookeeper", "zookeeper.x.y", "elastic", "elastic.request", "elastic.request.retry", "dlq"}) {
    EXPECT_TRUE(may_lead_to_own_key(way)) << way;
  }
  for (const char* away : {"zoo", "elastic.req", "elastic.request.retries", "x"}) {
    EXPECT_FALSE(may_lead_to_own_key(away)) << away;
  }
}

TEST(OptionTable, NearestKey) {
  EXPECT_EQ(nearest_key("zookeeper.server"), "zookeeper.servers");
  EXPECT_EQ(nearest_key("zookeeper.sesion.timeout"), "zookeeper.session.timeout");
  EXPECT_EQ(nearest_key("zookeeper.foregroud.task.timeout"), "zookeeper.foreground.task.timeout");
  EXPECT_EQ(nearest_key("dlq.outbox.maxbytes"), "dlq.outbox.max.bytes");
}

TEST(EditDistance, IsLevenshteins) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("abc", ""), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("flaw", "lawn"), 2U);
  EXPECT_EQ(edit_distance("same", "same"), 0U);
}

TEST(Secret, IsJudgedByTheKey) {
  for (const char* secret : {"kafka.sasl.password", "kafka.ssl.key.password", "kafka.ssl.keystore.password",
                             "kafka.sasl.jaas.config", "kafka.sasl.oauthbearer.client.secret", "kafka.x.TOKEN",
                             "kafka.ssl.key.pem", "kafka.sasl.oauthbearer.config"}) {
    EXPECT_TRUE(is_secret(secret)) << secret;
  }
  for (const char* open : {"kafka.bootstrap.servers", "kafka.sasl.username", "kafka.ssl.ca.location",
                           "zookeeper.auth.digest.file", "kafka.sasl.password.file"}) {
    EXPECT_FALSE(is_secret(open)) << open;
  }
}

TEST(Printable, IsShortAndOnOneLine) {
  EXPECT_EQ(in_quotes("a\nb\x1b\x7f"), "'a\\x0ab\\x1b\\x7f'");
  EXPECT_EQ(printable("é😀"), "é😀");
  EXPECT_EQ(printable(std::string(60, 'x')), std::string(60, 'x'));
  EXPECT_EQ(printable(std::string(61, 'x')), std::string(60, 'x') + "...");
  EXPECT_EQ(printable(std::string(59, 'x') + "😀 and more"), std::string(59, 'x') + "...");
}

}  // namespace
}  // namespace forelock::config
