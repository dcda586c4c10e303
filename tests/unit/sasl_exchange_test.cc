// Exchanges with a server of DIGEST-MD5 that says what no honest one does.
#include "support/test.h"
#include "zookeeper/sasl_context.h"

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

}  // namespace
}  // namespace forelock::zookeeper
