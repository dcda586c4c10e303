// What librdkafka is given, and what is refused before, with its place.
#include <librdkafka/rdkafka.h>

#include "kafka/client_config.h"
#include "kafka/client_events.h"
#include "kafka/known_keys.h"
#include "support/temporary_directory.h"
#include "support/test.h"

namespace forelock::kafka {
namespace {

using test::TemporaryDirectory;

using Values = std::vector<std::pair<std::string, std::string>>;

Settings with(const Values& values) {
  Settings settings;
  settings.set("kafka.bootstrap.servers", "127.0.0.1:1");
  for (const auto& [key, value] : values) settings.set("kafka." + key, value);
  return settings;
}

std::string value_of(const ClientConfig& config, const std::string& key) {
  char text[512];
  std::size_t size = sizeof text;
  const ConfHandle conf = config.conf();
  return rd_kafka_conf_get(conf.get(), key.c_str(), text, &size) == RD_KAFKA_CONF_OK ? text : "(none)";
}

// As people see why it is not made; empty if it is.
std::string refusal_of(const ClientConfig& config) {
  ClientEvents events({}, config.mask());
  ConfHandle conf = config.conf();
  events.install(conf.get());
  try {
    config.make(std::move(conf));
  } catch (const ConfigurationException& exception) {
    return exception.what();
  }
  return {};
}

std::vector<ConfigurationProblem> problems_of(const Settings& settings, Role role = Role::producer) {
  try {
    ClientConfig(settings, role).conf();
  } catch (const ConfigurationException& exception) {
    return exception.problems();
  }
  return {};
}

// The only problem, as people see it.
std::string problem_of(const Settings& settings, Role role = Role::producer) {
  const std::vector<ConfigurationProblem> problems = problems_of(settings, role);
  EXPECT_EQ(problems.size(), 1U);
  return problems.empty() ? "" : to_string(problems.front());
}

class KafkaSecretsTest : public ::testing::Test {
 protected:
  static constexpr const char* secret = "hunter2-and-more";

  std::string write(const std::string& name, const std::string& text, unsigned mode) {
    const std::filesystem::path path = directory_.path() / name;
    std::ofstream(path) << text;
    std::filesystem::permissions(path, static_cast<std::filesystem::perms>(mode));
    return path.string();
  }
  Settings load(const std::string& text, unsigned mode) {
    return Settings::load(write("host.properties", "kafka.bootstrap.servers=127.0.0.1:1\n" + text, mode));
  }

  TemporaryDirectory directory_;
};

TEST(KafkaConfig, EveryKeyGoesToTheLibrary) {
  const ClientConfig config(
      with({{"linger.ms", "7"}, {"compression.type", "lz4"}, {"client.id", "plugin"}, {"security.protocol", "ssl"}}),
      Role::producer);
  EXPECT_EQ(value_of(config, "linger.ms"), "7");
  EXPECT_EQ(value_of(config, "compression.type"), "lz4");
  EXPECT_EQ(value_of(config, "client.id"), "plugin");
  EXPECT_EQ(value_of(config, "security.protocol"), "ssl");
  EXPECT_EQ(value_of(config, "bootstrap.servers"), "127.0.0.1:1");
  EXPECT_EQ(config.bootstrap_servers(), "127.0.0.1:1");
}

TEST(KafkaConfig, AProducerWaitsForAllReplicasAndKeepsTheOrder) {
  const ClientConfig config(with({}), Role::producer);
  EXPECT_EQ(value_of(config, "enable.idempotence"), "true");
  EXPECT_EQ(value_of(config, "max.in.flight"), "1");
  EXPECT_EQ(value_of(config, "acks"), "-1");
  EXPECT_EQ(value_of(config, "partitioner"), "murmur2_random");
  EXPECT_GT(std::stol(value_of(config, "message.max.bytes")), 8 * 1024 * 1024);
  EXPECT_NE(value_of(config, "message.timeout.ms"), "0");
}

TEST(KafkaConfig, AConsumerCommitsNothingByItself) {
  const ClientConfig config(with({}), Role::consumer, {{"group.id", "drain"}});
  EXPECT_EQ(value_of(config, "enable.auto.commit"), "false");
  EXPECT_EQ(value_of(config, "auto.offset.reset"), "smallest");
  EXPECT_EQ(value_of(config, "allow.auto.create.topics"), "false");
  EXPECT_EQ(value_of(config, "group.id"), "drain");
}

TEST(KafkaConfig, BoundsCanBeMoved) {
  const ClientConfig config(with({{"delivery.timeout.ms", "5000"}, {"queue.buffering.max.kbytes", "1024"}}),
                            Role::producer);
  EXPECT_EQ(value_of(config, "message.timeout.ms"), "5000");
  EXPECT_EQ(value_of(config, "queue.buffering.max.kbytes"), "1024");
}

TEST(KafkaConfig, AnUnknownKeyIsNamedWithItsPlaceAndTheNearestKnown) {
  const Settings settings = Settings::from_string("kafka.bootstrap.servers=127.0.0.1:1\n\nkafka.linger.msec=5\n",
                                                  Settings::Format::properties, "conf/host.properties");
  for (const Role role : {Role::producer, Role::consumer}) {
    EXPECT_THAT(problem_of(settings, role),
                AllOf(HasSubstr("conf/host.properties:3: kafka.linger.msec: "), HasSubstr("kafka.linger.ms")));
  }
}

TEST(KafkaConfig, WhatIsFarFromAllKeysHasNoNearest) {
  EXPECT_THAT(problem_of(with({{"schema.registry.url", "x"}})),
              AllOf(HasSubstr("knows no such setting"), HasSubstr("CONFIGURATION.md"), Not(HasSubstr("nearest"))));
}

TEST_F(KafkaSecretsTest, SettingsOfJavasClientsAreNamedWithWhatToDo) {
  const std::string jaas = "org.apache.X required password=\"" + std::string(secret) + "\";";
  for (const Settings& settings :
       {with({{"sasl.jaas.config", jaas}}), load("kafka.sasl.jaas.config=" + jaas, 0600),
        load("kafka.sasl.jaas.config=" + jaas, 0644), with({{"sasl.jaas.config.file", write("jaas", jaas, 0600)}})}) {
    EXPECT_THAT(problem_of(settings),
                AllOf(HasSubstr("kafka.sasl.jaas.config"), HasSubstr("of Java's clients"),
                      HasSubstr("write kafka.sasl.username and kafka.sasl.password.file"), Not(HasSubstr(secret))));
  }
  for (const char* key : {"ssl.truststore.location", "ssl.truststore.password", "ssl.truststore.type"}) {
    EXPECT_THAT(problem_of(with({{key, "x"}})), HasSubstr("write kafka.ssl.ca.location")) << key;
  }
  for (const char* key :
       {"key.serializer", "value.serializer", "key.deserializer", "value.deserializer", "client.dns.lookup",
        "ssl.keystore.type", "max.block.ms", "max.poll.records", "interceptor.classes"}) {
    EXPECT_THAT(problem_of(with({{key, "x"}})), AllOf(HasSubstr("of Java's clients"), HasSubstr("remove it"))) << key;
  }
  EXPECT_THAT(problem_of(with({{"buffer.memory", "1"}})), HasSubstr("queue.buffering.max.kbytes"));
}

TEST(KafkaConfig, ABadValueIsRefusedWithTheLibrarysReasonInBothRoles) {
  for (const Role role : {Role::producer, Role::consumer}) {
    EXPECT_THAT(problem_of(with({{"compression.type", "rar"}}), role),
                AllOf(HasSubstr("--set: kafka.compression.type: "), HasSubstr("rar")));
    EXPECT_THAT(problem_of(with({{"fetch.min.bytes", "-1"}}), role), HasSubstr("kafka.fetch.min.bytes"));
  }
}

TEST(KafkaConfig, AllProblemsAreReportedAtOnce) {
  EXPECT_EQ(problems_of(with({{"acks", "0"}, {"compression.type", "rar"}, {"no.such.key", "1"}})).size(), 3U);
}

TEST(KafkaConfig, KeysOfTheOtherRoleAreTakenAndWithoutEffect) {
  const Settings settings = with({{"linger.ms", "7"}, {"fetch.min.bytes", "3"}});
  const ClientConfig producer(settings, Role::producer);
  EXPECT_EQ(value_of(producer, "linger.ms"), "7");
  EXPECT_EQ(value_of(producer, "fetch.min.bytes"), "1");
  const ClientConfig consumer(settings, Role::consumer);
  EXPECT_EQ(value_of(consumer, "fetch.min.bytes"), "3");
  EXPECT_EQ(value_of(consumer, "linger.ms"), "5");
}

TEST(KafkaConfig, NoWarningIsLoggedForKeysOfTheOtherRole) {
  std::string logged;
  const ClientConfig config(with({{"linger.ms", "7"}, {"acks", "all"}}), Role::consumer);
  ClientEvents events([&](std::string_view, std::string_view line) { logged += line; }, config.mask());
  ConfHandle conf = config.conf();
  events.install(conf.get());
  const ClientHandle client = config.make(std::move(conf));
  EXPECT_THAT(logged, AllOf(Not(HasSubstr("linger")), Not(HasSubstr("acks"))));
}

TEST(KafkaConfig, WithoutBrokersThereIsNothingToMake) {
  EXPECT_THAT(problem_of(Settings()), HasSubstr("kafka.bootstrap.servers: is not set"));
}

class DecidedKeys : public ::testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(DecidedKeys, AreRefusedInBothRoles) {
  const auto& [key, value] = GetParam();
  for (const Role role : {Role::producer, Role::consumer}) {
    EXPECT_THAT(problem_of(with({{key, value}}), role),
                AllOf(HasSubstr("--set: kafka." + std::string(key) + ": "), HasSubstr("decided by Forelock")));
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, DecidedKeys,
    ::testing::Values(std::pair("acks", "0"), std::pair("acks", "1"), std::pair("request.required.acks", "1"),
                      std::pair("enable.idempotence", "false"), std::pair("max.in.flight", "5"),
                      std::pair("retries", "3"), std::pair("message.send.max.retries", "3"),
                      std::pair("max.in.flight.requests.per.connection", "2"), std::pair("partitioner", "random"),
                      std::pair("transactional.id", "t"), std::pair("delivery.report.only.error", "true"),
                      std::pair("group.id", "mine"), std::pair("enable.auto.commit", "true"),
                      std::pair("auto.commit.enable", "true"), std::pair("enable.auto.offset.store", "true"),
                      std::pair("auto.offset.reset", "latest"), std::pair("enable.partition.eof", "false"),
                      std::pair("isolation.level", "read_uncommitted"), std::pair("allow.auto.create.topics", "true"),
                      std::pair("enabled_events", "1"), std::pair("log.queue", "false"),
                      std::pair("metadata.broker.list", "other:9092")));

TEST(KafkaConfig, WhatIsDecidedMayBeSaidAgain) {
  const Settings settings = with({{"acks", "all"},
                                  {"request.required.acks", "-1"},
                                  {"enable.idempotence", "true"},
                                  {"retries", "2147483647"},
                                  {"max.in.flight", "1"},
                                  {"partitioner", "murmur2_random"},
                                  {"enable.auto.commit", "false"},
                                  {"auto.offset.reset", "earliest"}});
  EXPECT_TRUE(problems_of(settings, Role::producer).empty());
  EXPECT_TRUE(problems_of(settings, Role::consumer).empty());
}

TEST(KafkaConfig, NothingMayWaitForEver) {
  EXPECT_THAT(problem_of(with({{"delivery.timeout.ms", "0"}})), HasSubstr("for ever"));
  EXPECT_THAT(problem_of(with({{"message.timeout.ms", "0"}})), HasSubstr("for ever"));
}

TEST(KafkaConfig, ValuesThatContradictEachOtherAreNamedWithTheirPlace) {
  const Settings settings = Settings::from_string("kafka.bootstrap.servers=127.0.0.1:1\nkafka.queuing.strategy=lifo\n",
                                                  Settings::Format::properties, "host.properties");
  const ClientConfig config(settings, Role::producer);
  EXPECT_THAT(refusal_of(config), HasSubstr("host.properties:2: kafka.queuing.strategy: "));
}

TEST(KafkaConfig, AFileThatCannotBeUsedIsNamedWithItsKey) {
  const ClientConfig config(with({{"security.protocol", "ssl"}, {"ssl.ca.location", "/nowhere/ca.pem"}}),
                            Role::consumer);
  EXPECT_THAT(refusal_of(config), HasSubstr("kafka.ssl.ca.location"));
}

TEST_F(KafkaSecretsTest, ASecretMayStandInAFileOfItsOwn) {
  const std::string path = write("password", std::string(secret) + "\n", 0600);
  const ClientConfig config(with({{"sasl.password.file", path}}), Role::producer);
  EXPECT_EQ(value_of(config, "sasl.password"), secret);
  EXPECT_EQ(config.mask().applied_to("password " + std::string(secret) + "!"), "password ******!");
}

TEST_F(KafkaSecretsTest, BlanksOfASecretCountAndALeadingOneCannotBeUsed) {
  const std::string path = write("password", "a b \r\n", 0400);
  EXPECT_EQ(value_of(ClientConfig(with({{"sasl.password.file", path}}), Role::producer), "sasl.password"), "a b ");
  EXPECT_THAT(problem_of(with({{"sasl.password.file", write("leading", " a\n", 0600)}})),
              HasSubstr("begins with a blank"));
  EXPECT_THAT(problem_of(load("kafka.sasl.password=\\ a\n", 0600)), HasSubstr("begins with a blank"));
}

TEST_F(KafkaSecretsTest, AFileThatOthersCanReadIsRefused) {
  const std::string path = write("password", std::string(secret) + "\n", 0640);
  EXPECT_THAT(
      problem_of(with({{"sasl.password.file", path}})),
      AllOf(HasSubstr("kafka.sasl.password.file"), HasSubstr("mode 0640"), HasSubstr("0600"), Not(HasSubstr(secret))));
}

TEST_F(KafkaSecretsTest, AFileWithoutOneLineIsRefused) {
  for (const char* const text : {"", "\n", "hunter2-and-more\nsecond\n", "hunter2\tand-more\n"}) {
    EXPECT_THAT(problem_of(with({{"sasl.password.file", write("password", text, 0600)}})),
                AllOf(HasSubstr("one line"), Not(HasSubstr("hunter2"))));
  }
  EXPECT_THAT(problem_of(with({{"sasl.password.file", "/nowhere/password"}})), HasSubstr("cannot be read"));
  EXPECT_THAT(problem_of(with({{"sasl.password.file", directory_.path().string()}})), HasSubstr("not a regular file"));
}

TEST_F(KafkaSecretsTest, OnlySecretsMayBeNamedByFile) {
  EXPECT_THAT(problem_of(with({{"linger.ms.file", write("number", "5\n", 0600)}})),
              AllOf(HasSubstr("kafka.linger.ms.file"), HasSubstr("no such setting")));
}

TEST_F(KafkaSecretsTest, ASecretStandsInOnePlace) {
  const Settings settings =
      load("kafka.sasl.password=other\nkafka.sasl.password.file=" + write("password", "one\n", 0600) + "\n", 0600);
  EXPECT_THAT(problem_of(settings), HasSubstr("host.properties:3: kafka.sasl.password.file: contradicts"));
}

TEST_F(KafkaSecretsTest, AConfigurationFileOfItsOwnerAloneMayHoldSecrets) {
  const ClientConfig config(load("kafka.sasl.password=" + std::string(secret) + "\n", 0600), Role::producer);
  EXPECT_EQ(value_of(config, "sasl.password"), secret);
  EXPECT_EQ(config.mask().applied_to(secret), "******");
}

TEST_F(KafkaSecretsTest, AConfigurationFileThatOthersCanReadMayNot) {
  for (const char* const key : {"sasl.password", "ssl.key.password", "ssl.key.pem", "ssl.keystore.password"}) {
    EXPECT_THAT(problem_of(load("kafka." + std::string(key) + "=" + secret + "\n", 0644)),
                AllOf(HasSubstr("host.properties:2: kafka." + std::string(key) + ": "), HasSubstr("mode 0644"),
                      HasSubstr("kafka." + std::string(key) + ".file="), Not(HasSubstr(secret))));
  }
}

TEST_F(KafkaSecretsTest, AFileWithAPrivateKeyIsClosedToOthers) {
  for (const char* const key : {"ssl.key.location", "ssl.keystore.location"}) {
    const std::string line = "kafka." + std::string(key) + "=" + write("key", secret, 0644) + "\n";
    EXPECT_THAT(problem_of(load(line, 0644)),
                AllOf(HasSubstr("kafka." + std::string(key) + ": names a private key, and"), HasSubstr("(mode 0644)"),
                      Not(HasSubstr(secret))));
    EXPECT_EQ(value_of(ClientConfig(load("kafka." + std::string(key) + "=" + write("key", secret, 0600) + "\n", 0644),
                                    Role::producer),
                       key)
                  .substr(0, 1),
              "/");
  }
}

TEST_F(KafkaSecretsTest, NorMayACommandLine) {
  EXPECT_THAT(problem_of(with({{"sasl.password", secret}})),
              AllOf(HasSubstr("--set: kafka.sasl.password: "), HasSubstr("command line"),
                    HasSubstr("kafka.sasl.password.file="), Not(HasSubstr(secret))));
}

TEST_F(KafkaSecretsTest, AHostProgramMayHandOverWhatItHasFromAVault) {
  Settings settings = with({});
  settings.set("kafka.sasl.password", secret, "vault");
  EXPECT_EQ(value_of(ClientConfig(settings, Role::producer), "sasl.password"), secret);
}

TEST_F(KafkaSecretsTest, ARefusedSecretIsNotShown) {
  const Settings settings = load("kafka.security.protocol=ssl\nkafka.ssl.key.pem=" + std::string(secret) + "\n", 0600);
  const ClientConfig config(settings, Role::producer);
  EXPECT_THAT(refusal_of(config), AllOf(HasSubstr("ssl.key.pem"), Not(HasSubstr(secret))));
}

TEST(KafkaKeys, ComeFromTheLibrary) {
  const KnownKeys& keys = KnownKeys::get();
  EXPECT_TRUE(keys.concerns("linger.ms", Role::producer));
  EXPECT_FALSE(keys.concerns("linger.ms", Role::consumer));
  EXPECT_FALSE(keys.concerns("fetch.min.bytes", Role::producer));
  EXPECT_TRUE(keys.concerns("sasl.password", Role::producer));
  EXPECT_TRUE(keys.concerns("sasl.password", Role::consumer));
  EXPECT_EQ(keys.canonical("acks"), "request.required.acks");
  EXPECT_EQ(keys.canonical("linger.ms"), "queue.buffering.max.ms");
  EXPECT_EQ(keys.canonical("client.id"), "client.id");
  EXPECT_EQ(keys.nearest("sasl.pasword"), "sasl.password");
  EXPECT_EQ(keys.nearest("schema.registry.url"), "");
}

TEST(KafkaMask, HidesEverySecretTheLongestFirst) {
  Mask mask;
  mask.add("abc");
  mask.add("abcdef");
  mask.add("");
  EXPECT_EQ(mask.applied_to("abcdef abc ab"), "****** ****** ab");
  EXPECT_EQ(mask.applied_to(""), "");
}

TEST(KafkaPlace, IsThatOfTheFileAndLine) {
  const auto place = [](const std::string& origin) { return place_of({"kafka.acks", "", origin, false}); };
  EXPECT_EQ(place("a:b/c.yaml:17").file, "a:b/c.yaml");
  EXPECT_EQ(place("a:b/c.yaml:17").line, 17);
  EXPECT_EQ(place("--set").file, "--set");
  EXPECT_EQ(place("--set").line, 0);
  EXPECT_EQ(place("vault:x").line, 0);
}

TEST(KafkaEvents, AFloodIsLimitedAndCounted) {
  int lines = 0;
  Mask mask;
  mask.add("secret");
  ClientEvents events(
      [&](std::string_view level, std::string_view line) {
        ++lines;
        EXPECT_EQ(level, "error");
        EXPECT_THAT(std::string(line), AllOf(HasSubstr("Kafka: the ****** is out"), Not(HasSubstr("secret"))));
      },
      mask);
  for (int count = 0; count < 1000; ++count) events.log("error", "the secret is out");
  EXPECT_GT(lines, 5);
  EXPECT_LT(lines, 50);
}

}  // namespace
}  // namespace forelock::kafka
