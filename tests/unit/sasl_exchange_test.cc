// Exchanges with a server of DIGEST-MD5 that says what no honest one does.
#include "support/test.h"
#include "zookeeper/sasl_context.h"
#include "zookeeper/sasl_library.h"

namespace forelock::zookeeper {
namespace {

std::string answer_to(const std::string& realms) {
  const SaslContext context({.user = "alice", .read_password = [] { return "wonder land"; }, .realm = "WANTED"});
  const auto exchange = context.open("zk1");
  EXPECT_EQ(exchange->step({}), SaslExchange::Step::goes_on) << exchange->problem();
  const auto step = exchange->step(realms + ",nonce=\"abc\",qop=\"auth\",charset=utf-8,algorithm=md5-sess");
  return step == SaslExchange::Step::goes_on ? std::string(exchange->reply()) : exchange->problem();
}

TEST(SaslExchangeTest, TheRealmIsTheOneThatIsWanted) {
  EXPECT_THAT(answer_to("realm=\"WANTED\""), HasSubstr("realm=\"WANTED\""));
  EXPECT_THAT(answer_to("realm=\"other\",realm=\"WANTED\""), HasSubstr("realm=\"WANTED\""));
  for (const std::string other : {"realm=\"other\"", "realm=\"other\",xrealm=\"WANTED\"", "realm=\"wanted\"",
                                  R"(realm="other",x="realm=\"WANTED\"")", R"(realm="other,realm=\"WANTED\"")"}) {
    EXPECT_EQ(answer_to(other), "it does not offer the realm of zookeeper.sasl.realm") << other;
  }
}

// As one does that asks a KDC from which no answer comes.
TEST(SaslExchangeTest, OneThatStandsStillHoldsUpNoOther) {
  const SaslContext context({.user = "alice", .read_password = [] { return "wonder land"; }, .realm = {}});
  auto begun = context.open("zk1");
  ASSERT_EQ(begun->step({}), SaslExchange::Step::goes_on);
  auto later = context.open("zk1");
  {
    const SaslUse stands_still;
    auto checked = std::async(std::launch::async, [&] { context.check(); });
    std::vector<std::future<void>> others;
    for (auto* each : {&begun, &later}) {
      others.push_back(std::async(std::launch::async, [each] {
        EXPECT_EQ((*each)->step("realm=\"r\",nonce=\"abc\",qop=\"auth\",charset=utf-8,algorithm=md5-sess"),
                  SaslExchange::Step::failed);
        EXPECT_TRUE((*each)->postponed());
        EXPECT_THAT((*each)->problem(), HasSubstr("another client of this process is in libsasl2"));
        each->reset();
      }));
    }
    for (auto& each : others) EXPECT_EQ(each.wait_for(60s), std::future_status::ready);
    EXPECT_EQ(checked.wait_for(60s), std::future_status::ready);
  }
  const auto next = context.open("zk1");
  EXPECT_EQ(next->step({}), SaslExchange::Step::goes_on);
  EXPECT_FALSE(next->postponed());
}

}  // namespace
}  // namespace forelock::zookeeper
