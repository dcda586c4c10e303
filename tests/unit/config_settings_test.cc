// Settings as a whole: defaults, files, overrides, what they say about their origin, and how they are refused.
#include <stdlib.h>

#include "config/setting_file.h"
#include "config/tls_files.h"
#include "config_reading.h"

namespace forelock {
namespace {

TEST(Settings, Defaults) {
  const Settings settings;
  EXPECT_EQ(settings.servers(), (std::vector<ServerAddress>{{"localhost", 2181}}));
  EXPECT_EQ(settings.chroot(), "");
  EXPECT_EQ(settings.session_timeout(), 5s);
  EXPECT_EQ(settings.session_file(), "");
  EXPECT_EQ(settings.connection_retry(), 5);
  EXPECT_EQ(settings.connection_delay(), 1s);
  EXPECT_EQ(settings.foreground_prefix(), "A");
  EXPECT_EQ(settings.background_prefix(), "B");
  EXPECT_EQ(settings.prefix(Priority::background), "B");
  EXPECT_EQ(settings.timeout(Priority::foreground), 2s);
  EXPECT_EQ(settings.timeout(Priority::background), 2s);
  EXPECT_EQ(settings.background_max_wait(), 0ms);
  EXPECT_EQ(settings.admission(), Admission::off);
  EXPECT_EQ(settings.queue_max(), 0u);
  EXPECT_EQ(settings.request_retry_count(), 3);
  EXPECT_EQ(settings.dlq_topic(), "MdmDeadLetterQueue");
  EXPECT_EQ(settings.outbox_max_bytes(), 268435456);
  EXPECT_EQ(settings.watch_mode(), WatchMode::parent);
  EXPECT_EQ(settings.monitor_linger(), 5s);
  EXPECT_EQ(settings.linger(), 0ms);
  EXPECT_FALSE(settings.linger_reused());
  EXPECT_EQ(settings.release_delay(), 0ms);
  EXPECT_EQ(settings.trace_file(), "");
  EXPECT_FALSE(settings.trace_monitors());
  EXPECT_EQ(settings.auth_digest_file(), "");
  EXPECT_EQ(settings.acl(), AclMode::open);
  EXPECT_TRUE(settings.kafka().empty());
  EXPECT_EQ(settings.load_digest(), "");
}

TEST(Settings, EveryKeyIsRead) {
  const Settings settings = read(
      "zookeeper.servers=zk1,zk2:2182/ns\nzookeeper.session.timeout=1s\nzookeeper.session.file=/run/s\n"
      "zookeeper.connection.retry=7\n"
      "zookeeper.connection.delay=20\nzookeeper.foregound.lock.prefix=F\nzookeeper.backgound.lock.prefix=G\n"
      "zookeeper.foregound.task.timeout=3s\nzookeeper.backgound.task.timeout=4m\nelastic.request.retry.count=9\n"
      "zookeeper.background.max.wait=30s\nzookeeper.admission=refuse\nzookeeper.queue.max=12\n"
      "dlq.topic=T\ndlq.outbox.path=/o.db\ndlq.outbox.max.bytes=1KiB\nzookeeper.lock.watch=predecessor\n"
      "zookeeper.monitor.linger=250\n"
      "zookeeper.lock.linger=6s\nzookeeper.lock.linger.max=5\nzookeeper.lock.linger.reused=true\n"
      "zookeeper.lock.release.delay=2\nzookeeper.trace.file=/t\nzookeeper.trace.monitors=true\n"
      "zookeeper.auth.digest.file=/d\nzookeeper.acl=creator-all\nkafka.bootstrap.servers=k:9092\nkafka.acks= all \n");
  EXPECT_EQ(settings.servers(), (std::vector<ServerAddress>{{"zk1", 2181}, {"zk2", 2182}}));
  EXPECT_EQ(settings.chroot(), "/ns");
  EXPECT_EQ(settings.session_timeout(), 1s);
  EXPECT_EQ(settings.session_file(), "/run/s");
  EXPECT_EQ(settings.connection_retry(), 7);
  EXPECT_EQ(settings.connection_delay(), 20ms);
  EXPECT_EQ(settings.foreground_prefix(), "F");
  EXPECT_EQ(settings.background_prefix(), "G");
  EXPECT_EQ(settings.timeout(Priority::foreground), 3s);
  EXPECT_EQ(settings.timeout(Priority::background), 4min);
  EXPECT_EQ(settings.background_max_wait(), 30s);
  EXPECT_EQ(settings.admission(), Admission::refuse);
  EXPECT_EQ(settings.queue_max(), 12u);
  EXPECT_EQ(settings.request_retry_count(), 9);
  EXPECT_EQ(settings.dlq_topic(), "T");
  EXPECT_EQ(settings.outbox_path(), "/o.db");
  EXPECT_EQ(settings.outbox_max_bytes(), 1024);
  EXPECT_EQ(settings.watch_mode(), WatchMode::predecessor);
  EXPECT_EQ(settings.monitor_linger(), 250ms);
  EXPECT_EQ(settings.linger(), 6s);
  EXPECT_EQ(settings.linger_max(), 5u);
  EXPECT_TRUE(settings.linger_reused());
  EXPECT_EQ(settings.release_delay(), 2ms);
  EXPECT_EQ(settings.trace_file(), "/t");
  EXPECT_TRUE(settings.trace_monitors());
  EXPECT_EQ(settings.auth_digest_file(), "/d");
  EXPECT_EQ(settings.acl(), AclMode::creator_all);
  EXPECT_EQ(settings.kafka(), (std::map<std::string, std::string>{{"bootstrap.servers", "k:9092"}, {"acks", "all "}}));
}

TEST(Settings, ShippedFilesSayTheDefaults) {
  const std::filesystem::path folder = FORELOCK_CONFIG_DIR;
  for (const char* name : {"elasticsearch-details.properties", "forelock.yaml"}) {
    const Settings settings = Settings::load(folder / name);
    const std::vector<Settings::Entry> defaults = Settings().entries();
    const std::vector<Settings::Entry> entries = settings.entries();
    ASSERT_EQ(entries.size(), defaults.size());
    for (std::size_t i = 0; i < entries.size(); ++i) {
      EXPECT_EQ(entries[i].value, defaults[i].value) << name << ": " << entries[i].key;
    }
    EXPECT_THAT(entries.front().origin, StartsWith((folder / name).string() + ":"));
  }
}

TEST(Settings, EntriesKnowTheirOrigin) {
  const Settings settings = read("# c\nzookeeper.background.task.timeout=5s\nkafka.z=1\nkafka.b=2\nhost.key=1\n",
                                 {{"zookeeper.servers", "h"}, {"kafka.c", "3", "--kafka"}});
  EXPECT_EQ(entry(settings, "zookeeper.backgound.task.timeout"), "5000 (f:2)");
  EXPECT_EQ(entry(settings, "zookeeper.servers"), "h:2181 (--set)");
  EXPECT_EQ(entry(settings, "zookeeper.lock.watch"), "parent (default)");
  EXPECT_EQ(entry(settings, "kafka.c"), "3 (--kafka)");
  EXPECT_EQ(entry(settings, "host.key"), "none");
  const std::vector<Settings::Entry> entries = settings.entries();
  ASSERT_EQ(entries.size(), 42U);
  EXPECT_EQ(entries.front().key, "zookeeper.servers");
  EXPECT_EQ(entries[38].key, "kafka.bootstrap.servers");
  EXPECT_EQ(entries[39].key, "kafka.b");
  EXPECT_EQ(entries[41].key, "kafka.z");
}

TEST(Settings, SecretsAreMasked) {
  const Settings settings =
      read("kafka.sasl.password=hunter2\nkafka.ssl.key.password=\nkafka.sasl.jaas.config=hunter2\n");
  EXPECT_EQ(entry(settings, "kafka.sasl.password"), "****** (f:1) secret");
  EXPECT_EQ(entry(settings, "kafka.ssl.key.password"), " (f:2)");
  EXPECT_EQ(entry(settings, "kafka.sasl.jaas.config"), "****** (f:3) secret");
  EXPECT_EQ(settings.kafka().at("sasl.password"), "hunter2");
}

TEST(Settings, BothSpellingsAreAccepted) {
  EXPECT_EQ(read("zookeeper.foreground.lock.prefix=0").foreground_prefix(), "0");
  EXPECT_EQ(read("zookeeper.background.lock.prefix=Z").background_prefix(), "Z");
  EXPECT_EQ(read("zookeeper.foreground.task.timeout=1").timeout(Priority::foreground), 1ms);
  EXPECT_EQ(read("zookeeper.background.task.timeout=1").timeout(Priority::background), 1ms);
  EXPECT_EQ(
      read("zookeeper.background.task.timeout=2s\nzookeeper.backgound.task.timeout=2000").timeout(Priority::background),
      2s);
}

TEST(Settings, SpellingsThatContradictEachOther) {
  EXPECT_THAT(
      problems_in("zookeeper.foregound.task.timeout=1s\n\nzookeeper.foreground.task.timeout=2s"),
      ElementsAre("f:3: zookeeper.foreground.task.timeout: '2000' contradicts zookeeper.foregound.task.timeout = "
                  "'1000' (f:1), keep one of the two spellings"));
  EXPECT_THAT(problems_in("", {{"zookeeper.foregound.task.timeout", "1"}, {"zookeeper.foreground.task.timeout", "2"}}),
              ElementsAre(HasSubstr("contradicts zookeeper.foregound.task.timeout = '1' (--set)")));
  EXPECT_EQ(read("zookeeper.foregound.task.timeout=1s", {{"zookeeper.foreground.task.timeout", "2s"}})
                .timeout(Priority::foreground),
            2s);
}

TEST(Settings, UnknownKeysOfOursAreRefused) {
  EXPECT_THAT(
      problems_in("host=1\nzookeeper.sesion.timeout=1\ndlq.topik=1\nelastic.request.retry.coun=2\n"
                  "elastic.request.timeout=1\nkafka.anything=1\nkafka.=1\n"),
      ElementsAre("f:2: zookeeper.sesion.timeout: unknown key, the nearest known key is zookeeper.session.timeout",
                  "f:3: dlq.topik: unknown key, the nearest known key is dlq.topic",
                  "f:4: elastic.request.retry.coun: unknown key, the nearest known key is elastic.request.retry.count",
                  "f:7: kafka.: names no setting of Kafka, write one behind the dot, or remove the line"));
}

TEST(Settings, SecurityThatTheClientDoesNotHaveIsRefused) {
  for (const std::string key : {"zookeeper.sasl.clientconfig", "zookeeper.sasl"}) {
    EXPECT_THAT(problems_in(key + "=x\n"),
                ElementsAre("f:1: " + key +
                            ": SASL to ZooKeeper is not asked for by this key, use zookeeper.sasl.mechanism and those "
                            "beside it"));
  }
  for (const std::string key : {"zookeeper.client.secure", "zookeeper.ssl.trustStore.location"}) {
    EXPECT_THAT(problems_in(key + "=x\n"),
                ElementsAre("f:1: " + key +
                            ": TLS to ZooKeeper is not asked for by this key, use zookeeper.tls.ca.file "
                            "and those beside it"));
  }
  EXPECT_THAT(problems_in("zookeeper.tls.cafile=x\n"),
              ElementsAre("f:1: zookeeper.tls.cafile: unknown key, the nearest known key is zookeeper.tls.ca.file"));
}

#ifdef FORELOCK_SASL
TEST(Settings, SaslIsRead) {
  const SaslSettings none = read("\n").sasl();
  EXPECT_EQ(none.mechanism, SaslSettings::Mechanism::none);
  EXPECT_EQ(none.service, "zookeeper");
  const Settings digest = read(
      "zookeeper.sasl.mechanism=DIGEST-MD5\nzookeeper.sasl.user=alice\nzookeeper.sasl.password.file=/p\n"
      "zookeeper.sasl.realm=zk-sasl-md5\n");
  EXPECT_EQ(digest.sasl().mechanism, SaslSettings::Mechanism::digest_md5);
  EXPECT_EQ(digest.sasl().user, "alice");
  EXPECT_EQ(digest.sasl().password_file, "/p");
  EXPECT_EQ(digest.sasl().realm, "zk-sasl-md5");
  EXPECT_EQ(digest.acl(), AclMode::creator_all) << "there are credentials";
  const Settings kerberos = read("zookeeper.sasl.mechanism=GSSAPI\nzookeeper.sasl.service=zk\n");
  EXPECT_EQ(kerberos.sasl().mechanism, SaslSettings::Mechanism::gssapi);
  EXPECT_EQ(kerberos.sasl().service, "zk");
  EXPECT_EQ(read("zookeeper.acl=creator-all\nzookeeper.sasl.mechanism=GSSAPI\n").acl(), AclMode::creator_all);
  EXPECT_EQ(read("zookeeper.acl=open\nzookeeper.sasl.mechanism=GSSAPI\n").acl(), AclMode::open);
}

TEST(Settings, TheSaslPasswordOfAProgramIsNoFile) {
  Settings settings =
      read("zookeeper.sasl.mechanism=DIGEST-MD5\nzookeeper.sasl.user=alice\nzookeeper.sasl.password.file=/p\n");
  settings.set("zookeeper.sasl.password", "hunter2\n", "the program");
  const auto password = [&] {
    return config::read_password(settings, config::OptionId::sasl_password_file, "the password");
  };
  EXPECT_EQ(password(), "hunter2");
  EXPECT_EQ(settings.sasl().password_file, "");
  for (const std::string& wrong : {std::string(), std::string("a\nb"), std::string(1025, 'x')}) {
    settings.set("zookeeper.sasl.password", wrong, "the program");
    EXPECT_THAT(problems_of([&] { password(); }),
                ElementsAre(HasSubstr("zookeeper.sasl.password.file: 'zookeeper.sasl.password' ")));
  }
}

TEST(Settings, SaslIsWholeOrRefused) {
  EXPECT_THAT(problems_in("zookeeper.sasl.mechanism=DIGEST-MD5\n"),
              ElementsAre("f:1: zookeeper.sasl.mechanism: needs zookeeper.sasl.user, set that too",
                          "f:1: zookeeper.sasl.mechanism: needs zookeeper.sasl.password.file, set that too"));
  EXPECT_THAT(
      problems_in("zookeeper.sasl.user=alice\n"),
      ElementsAre("f:1: zookeeper.sasl.user: does nothing without zookeeper.sasl.mechanism=DIGEST-MD5, set that "
                  "too"));
  for (const std::string key : {"user", "password.file", "realm"}) {
    EXPECT_THAT(problems_in("zookeeper.sasl.mechanism=GSSAPI\nzookeeper.sasl." + key + "=x\n"),
                ElementsAre(StartsWith("f:2: zookeeper.sasl." + key +
                                       ": does nothing without zookeeper.sasl.mechanism=DIGEST-MD5, remove it")));
  }
  EXPECT_THAT(problems_in("zookeeper.sasl.mechanism=DIGEST-MD5\nzookeeper.sasl.user=a\n"
                          "zookeeper.sasl.password.file=/p\nzookeeper.sasl.service=zk\n"),
              ElementsAre(StartsWith("f:4: zookeeper.sasl.service: does nothing without")));
  for (const std::string mechanism : {"SCRAM-SHA-256", "PLAIN", "digest-md5", ""}) {
    EXPECT_THAT(problems_in("zookeeper.sasl.mechanism=" + mechanism + "\n"),
                ElementsAre(StartsWith("f:1: zookeeper.sasl.mechanism: '" + mechanism + "' is not known")));
  }
  EXPECT_THAT(problems_in("zookeeper.sasl.pasword.file=/p\n"),
              ElementsAre(HasSubstr("the nearest known key is zookeeper.sasl.password.file")));
}
#else
TEST(Settings, WithoutSaslItsSettingsAreRefused) {
  EXPECT_THAT(problems_in("zookeeper.sasl.mechanism=GSSAPI\n"),
              ElementsAre(StartsWith("f:1: zookeeper.sasl.mechanism: this build has no SASL to ZooKeeper")));
}
#endif

#ifdef FORELOCK_TLS
TEST(Settings, TlsIsRead) {
  EXPECT_EQ(read("\n").tls().ca_file, "");
  const Settings settings = read(
      "zookeeper.tls.ca.file=/ca\nzookeeper.tls.certificate.file=/c\nzookeeper.tls.key.file=/k\n"
      "zookeeper.tls.key.password.file=/p\nzookeeper.tls.crl.file=/r\nzookeeper.tls.min.version=1.3\n"
      "zookeeper.tls.server.names= zk1.example , 10.0.0.1,::1\n");
  const TlsSettings& tls = settings.tls();
  EXPECT_EQ(tls.ca_file, "/ca");
  EXPECT_EQ(tls.certificate_file, "/c");
  EXPECT_EQ(tls.key_file, "/k");
  EXPECT_EQ(tls.key_password_file, "/p");
  EXPECT_EQ(tls.crl_file, "/r");
  EXPECT_EQ(tls.min_version, TlsSettings::Version::v1_3);
  EXPECT_THAT(tls.server_names, ElementsAre("zk1.example", "10.0.0.1", "::1"));
}

TEST(Settings, TheKeyAndItsPasswordOfAProgramAreNoFiles) {
  const Folder folder;
  const std::string pem = folder.write("pem", "a certificate", 0600);
  Settings settings = read("\n");
  settings.set({{"zookeeper.tls.ca.file", pem, "the program"},
                {"zookeeper.tls.certificate.file", pem, "the program"},
                {"zookeeper.tls.key", "a key", "the program"},
                {"zookeeper.tls.key.password", "hunter2", "the program"}});
  const config::TlsTexts texts = config::read_tls_files(settings);
  EXPECT_EQ(texts.certificate, "a certificate");
  EXPECT_EQ(texts.key, "a key");
  EXPECT_EQ(texts.key_password, "hunter2");
  EXPECT_EQ(settings.tls().key_file, "");
  EXPECT_EQ(settings.tls().key_password_file, "");
}

TEST(Settings, TlsIsWholeOrRefused) {
  for (const std::string key : {"zookeeper.tls.ca.file", "zookeeper.tls.crl.file"}) {
    EXPECT_THAT(problems_in("zookeeper.tls.ca.file=/ca\n" + key + "= \n"),
                ElementsAre("f:2: " + key + ": is empty, remove the line, or name the file"));
  }
  EXPECT_THAT(
      problems_in("zookeeper.tls.certificate.file=/c\nzookeeper.tls.key.file=/k\n"),
      ElementsAre("f:1: zookeeper.tls.certificate.file: does nothing without zookeeper.tls.ca.file, set that too"));
  EXPECT_THAT(
      problems_in("zookeeper.tls.ca.file=/ca\nzookeeper.tls.key.file=/k\n"),
      ElementsAre("f:2: zookeeper.tls.key.file: does nothing without zookeeper.tls.certificate.file, set that too"));
  EXPECT_THAT(
      problems_in("zookeeper.tls.ca.file=/ca\nzookeeper.tls.certificate.file=/c\n"),
      ElementsAre("f:2: zookeeper.tls.certificate.file: does nothing without zookeeper.tls.key.file, set that too"));
  for (const std::string names : {".example", "*.example", "a,,b", "-a", "a b", "a/b"}) {
    EXPECT_THAT(problems_in("zookeeper.tls.ca.file=/ca\nzookeeper.tls.server.names=" + names + "\n"),
                ElementsAre(HasSubstr("is no name of a host")))
        << names;
  }
  EXPECT_THAT(problems_in("zookeeper.tls.ca.file=/ca\nzookeeper.tls.min.version=1.1\n"),
              ElementsAre("f:2: zookeeper.tls.min.version: '1.1' is not known, write 1.2 or 1.3"));
}
#else
TEST(Settings, TlsIsRefusedByABuildWithoutIt) {
  EXPECT_THAT(problems_in("zookeeper.tls.ca.file=/ca\n"),
              ElementsAre(HasSubstr("this build cannot speak TLS to ZooKeeper, run scripts/zookeeper_client.sh")));
}
#endif

TEST(Settings, EveryProblemIsReported) {
  EXPECT_THAT(
      problems_in("zookeeper.servers=a:0\nzookeeper.session.timeout=soon\ndlq.topic=a b\nzookeeper.lock.watch=x\n",
                  {{"nonsense", "1"}}),
      ElementsAre(StartsWith("f:1: zookeeper.servers: 'a:0' has no valid port, "),
                  "f:2: zookeeper.session.timeout: 'soon' is not a duration, write milliseconds, or a unit such as "
                  "250ms, 2s or 5m",
                  StartsWith("f:3: dlq.topic: "), StartsWith("f:4: zookeeper.lock.watch: "),
                  StartsWith("--set: nonsense: unknown key, ")));
}

TEST(Settings, WhatOfAHundredThousandProblems) {
  std::string text;
  for (int i = 0; i < 60'000; ++i) text += "dlq.k" + std::to_string(i) + "\n";
  EXPECT_EQ(problems_in(text).size(), 100U);
}

TEST(Settings, MessagesNeverSpanLines) {
  EXPECT_THAT(problems_in("dlq.a\\nb=1\ndlq.topic=a\\nb\n"),
              ElementsAre(StartsWith("f:1: dlq.a\\x0ab: unknown"), StartsWith("f:2: dlq.topic: 'a\\x0ab' is not")));
}

TEST(Settings, ByteOrderMarkIsNotIgnored) {
  EXPECT_THAT(
      problems_in("\xEF\xBB\xBFzookeeper.servers=a"),
      ElementsAre("f:1: zookeeper.servers: the file begins with a byte order mark, which spoils its first key, save "
                  "it as UTF-8 without one"));
  EXPECT_THAT(problems_in("\xEF\xBB\xBF# comment\nzookeeper.servers=a"), ElementsAre());
}

TEST(Settings, PrefixesMustSort) {
  EXPECT_THAT(
      problems_in("zookeeper.foregound.lock.prefix=C\n"),
      ElementsAre("f:1: zookeeper.foregound.lock.prefix: the background prefix 'B' (default) does not sort after the "
                  "foreground prefix 'C' (f:1), choose two letters in the order of the alphabet, such as A and B"));
  EXPECT_THAT(problems_in("zookeeper.foregound.lock.prefix=X\n\nzookeeper.backgound.lock.prefix=X\n"),
              ElementsAre(StartsWith("f:3: zookeeper.backgound.lock.prefix: ")));
  EXPECT_THAT(problems_in("zookeeper.backgound.lock.prefix=A!"), ElementsAre(HasSubstr("does not sort after")));
  EXPECT_EQ(read("zookeeper.backgound.lock.prefix=AB").background_prefix(), "AB");
  EXPECT_THAT(problems_in("zookeeper.foregound.lock.prefix=b\nzookeeper.backgound.lock.prefix=-"),
              ElementsAre(HasSubstr("cannot begin a node's name")))
      << "one complaint is enough";
}

TEST(Settings, AclNeedsCredentials) {
  EXPECT_THAT(problems_in("zookeeper.acl=creator-all"),
              ElementsAre("f:1: zookeeper.acl: creator-all needs credentials, set zookeeper.auth.digest.file or "
                          "zookeeper.sasl.mechanism too"));
  EXPECT_THAT(problems_in("zookeeper.acl=creator-all\nzookeeper.auth.digest.file=~/d").size(), 1U);
  EXPECT_EQ(read("zookeeper.auth.digest.file=/d").acl(), AclMode::creator_all);
  EXPECT_EQ(read("zookeeper.auth.digest.file=/d\nzookeeper.acl=open").acl(), AclMode::open);
  EXPECT_EQ(read("zookeeper.auth.digest.file=").acl(), AclMode::open);
}

TEST(Settings, SetOverrides) {
  Settings settings = read("zookeeper.session.timeout=1s");
  const Settings before = settings;
  settings.set("zookeeper.session.timeout", "2s");
  settings.set("zookeeper.session.timeout", "3s", "--session");
  EXPECT_EQ(settings.session_timeout(), 3s);
  EXPECT_EQ(entry(settings, "zookeeper.session.timeout"), "3000 (--session)");
  EXPECT_EQ(before.session_timeout(), 1s);
}

TEST(Settings, SetChecksSeveralTogether) {
  Settings settings;
  const auto set_one = [&settings] { settings.set("zookeeper.foreground.lock.prefix", "X"); };
  EXPECT_THAT(problems_of(set_one), ElementsAre(StartsWith("--set: zookeeper.foreground.lock.prefix: ")));
  EXPECT_EQ(settings.foreground_prefix(), "A") << "nothing has changed";
  settings.set({{"zookeeper.foreground.lock.prefix", "X"}, {"zookeeper.background.lock.prefix", "Y"}});
  EXPECT_EQ(settings.foreground_prefix(), "X");
  EXPECT_EQ(settings.background_prefix(), "Y");
}

TEST(Settings, SetRefusesUnknownKeys) {
  Settings settings;
  EXPECT_THAT(problems_of([&] { settings.set("zookeper.servers", "a"); }),
              ElementsAre("--set: zookeper.servers: unknown key, the nearest known key is zookeeper.servers"));
}

TEST(Settings, KafkaServersMayBeEmpty) {
  EXPECT_TRUE(read("kafka.bootstrap.servers= \n").kafka().empty());
  EXPECT_EQ(read("kafka.bootstrap.servers= k:1 \n").kafka().at("bootstrap.servers"), "k:1");
  EXPECT_THAT(problems_in("kafka.a=\\u0000"), ElementsAre(HasSubstr("NUL")));
}

TEST(Settings, OutboxLiesInTheStateFolder) {
  const auto with = [](const char* name, const char* value, const std::function<void()>& check) {
    const char* const old = ::getenv(name);
    const std::string kept = old != nullptr ? old : "";
    value != nullptr ? ::setenv(name, value, 1) : ::unsetenv(name);
    check();
    old != nullptr ? ::setenv(name, kept.c_str(), 1) : ::unsetenv(name);
  };
  with("HOME", "/home/x", [&] {
    with("XDG_STATE_HOME", "/state", [] { EXPECT_EQ(Settings().outbox_path(), "/state/forelock/outbox.db"); });
    for (const char* ignored : {static_cast<const char*>(nullptr), "", "relative"}) {
      with("XDG_STATE_HOME", ignored,
           [] { EXPECT_EQ(Settings().outbox_path(), "/home/x/.local/state/forelock/outbox.db"); });
    }
  });
  with("XDG_STATE_HOME", "/state",
       [] { EXPECT_EQ(read("dlq.outbox.path=").outbox_path(), "/state/forelock/outbox.db"); });
}

TEST(Settings, LoadKnowsTheKindByTheName) {
  const Folder folder;
  EXPECT_EQ(Settings::load(folder.write("a.properties", "dlq.topic: P")).dlq_topic(), "P");
  EXPECT_EQ(Settings::load(folder.write("a.yaml", "dlq: {topic: Y}")).dlq_topic(), "Y");
  EXPECT_EQ(Settings::load(folder.write("a.yml", "dlq.topic: Z"), {{"dlq.topic", "S"}}).dlq_topic(), "S");
  EXPECT_THAT(problems_of([&] { Settings::load(folder.write("a.json", "{}")); }),
              ElementsAre((folder.path() / "a.json").string() +
                          ": not a kind of file that is known, name it .properties, .yaml or .yml"));
}

TEST(Settings, LoadRefusesWhatItCannotRead) {
  const Folder folder;
  for (const char* name : {"none.yaml", "none"}) {
    const std::filesystem::path none = folder.path() / name;
    EXPECT_THAT(
        problems_of([&] { Settings::load(none); }),
        ElementsAre(none.string() + ": cannot be read: No such file or directory, check the path and its permissions"));
  }
  std::filesystem::create_directory(folder.path() / "d.yaml");
  EXPECT_THAT(problems_of([&] { Settings::load(folder.path() / "d.yaml"); }), ElementsAre(HasSubstr("Is a directory")));
  const std::string full = "#" + std::string((1 << 20) - 1, '\n');
  EXPECT_NO_THROW(Settings::load(folder.write("full.properties", full)));
  EXPECT_THAT(problems_of([&] { Settings::load(folder.write("big.properties", full + "\n")); }),
              ElementsAre(HasSubstr("the file is larger than 1 MiB")));
}

TEST(Settings, YamlProblemsAndValuesAreReportedTogether) {
  const auto action = [] {
    Settings::from_string("zookeeper:\n  servers: [a]\n  session.timeout: x\n", Settings::Format::yaml, "f");
  };
  EXPECT_THAT(problems_of(action), ElementsAre(HasSubstr("f:2: zookeeper.servers: a list"),
                                               HasSubstr("f:3: zookeeper.session.timeout: 'x' is not a duration")));
}

TEST(Settings, ATimeInWhichNothingAgesIsDoubted) {
  Settings settings = read("zookeeper.background.max.wait=3s\nzookeeper.backgound.task.timeout=3s\n");
  ASSERT_EQ(settings.doubts().size(), 1U);
  EXPECT_EQ(settings.doubts()[0].key, "zookeeper.background.max.wait");
  EXPECT_EQ(settings.doubts()[0].line, 1);
  EXPECT_NE(settings.doubts()[0].message.find("the 3000 ms that background work waits"), std::string::npos);
  settings.set({{"zookeeper.foregound.task.timeout", "1s"}});
  EXPECT_EQ(settings.doubts().size(), 1U) << "once";
  settings.set({{"zookeeper.backgound.task.timeout", "3001"}});
  EXPECT_TRUE(settings.doubts().empty());
  EXPECT_TRUE(read("zookeeper.background.max.wait=0\n").doubts().empty());
}

TEST(Settings, KeysThatAreNearlyOursAreDoubted) {
  const std::string text = "zookeper.servers=a:1\nmy.servers=x\nelastic.reqest.retry.count=1\n";
  Settings settings = Settings::from_string(text, Settings::Format::properties, "f.properties");
  ASSERT_EQ(settings.doubts().size(), 2U);
  EXPECT_EQ(to_string(settings.doubts()[0]),
            "f.properties:1: zookeper.servers: is left to the application, but looks like a key of ours, is "
            "zookeeper.servers meant?");
  EXPECT_EQ(settings.doubts()[1].line, 3);
  settings.set("zookeeper.servers", "b:1");
  EXPECT_EQ(settings.doubts().size(), 2U) << "they stay with the settings";
  EXPECT_TRUE(Settings().doubts().empty());
  const Settings yaml = Settings::from_string("zookeper:\n  servers: a:1\n", Settings::Format::yaml, "f.yaml");
  ASSERT_EQ(yaml.doubts().size(), 1U);
  EXPECT_EQ(yaml.doubts()[0].line, 2);
}

TEST(ConfigurationProblem, LeavesOutWhatIsEmpty) {
  EXPECT_EQ(to_string({"f", 3, "k", "m", "h"}), "f:3: k: m, h");
  EXPECT_EQ(to_string({"f", 0, "", "m", ""}), "f: m");
  EXPECT_EQ(to_string({"", 0, "", "m", "h"}), "m, h");
}

}  // namespace
}  // namespace forelock
