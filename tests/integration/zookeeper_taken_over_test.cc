// A session that another process takes over: to end it, or to find that it is over.
#include "support/free_port.h"
#include "zookeeper/session_end.h"
#include "zookeeper_fixture.h"

namespace forelock::zookeeper {
namespace {

using namespace coordination;
using Kind = SessionEvent::Kind;

// A session's first owner, as good as dead: the servers do not hear of him any more, and he would take it back.
class TakenOverTest : public ZooKeeperTest {
 protected:
  TakenOverTest() : first_(connect()) {
    EXPECT_TRUE(first_->ask(Create{own("mine"), "", CreateMode::ephemeral}).ok());
    identity_ = first_->session.identity().value();
    proxy_.refuse(true);
    proxy_.cut_connections();
    direct_.servers = server().connect_string();
  }
  bool is_there() const {
    auto other = connect(direct_);
    return other->ask(Exists{own("mine")}).ok();
  }

  SessionOptions direct_ = options();
  std::unique_ptr<Connection> first_;
  SessionIdentity identity_;
};

TEST_F(TakenOverTest, WithItsIdentity) {
  SessionOptions settings = direct_;
  settings.taken_over = identity_;
  Connection second(settings);
  second.session.start();
  ASSERT_TRUE(second.wait_for(Kind::connected));
  EXPECT_EQ(second.session.identity(), identity_);
  EXPECT_TRUE(second.ask(Exists{own("mine")}).ok());
  second.session.close();
  EXPECT_FALSE(is_there());
}

TEST_F(TakenOverTest, IsEndedByWhoeverKnowsIt) {
  SessionIdentity wrong = identity_;
  wrong.password[3] = static_cast<char>(wrong.password[3] + 1);
  EXPECT_NE(end_session(direct_, wrong, 10s), SessionEnd::ended);
  EXPECT_TRUE(is_there());
  EXPECT_EQ(end_session(direct_, identity_, 10s), SessionEnd::ended);
  EXPECT_FALSE(is_there());
  EXPECT_EQ(end_session(direct_, identity_, 10s), SessionEnd::was_over);
  proxy_.refuse(false);
  EXPECT_TRUE(first_->wait_for(Kind::expired)) << "its first owner hears of it, should he live";
}

TEST_F(TakenOverTest, IsNotEndedWhereNobodyAnswers) {
  SessionOptions settings = direct_;
  settings.servers = "127.0.0.1:" + std::to_string(test::free_ports(1)[0]);
  EXPECT_EQ(end_session(settings, identity_, 100ms), SessionEnd::unknown);
  EXPECT_TRUE(is_there());
}

TEST_F(ZooKeeperTest, ANewSessionHasNoIdentityBeforeItIsConnected) {
  Connection fresh(options());
  EXPECT_FALSE(fresh.session.identity());
}

}  // namespace
}  // namespace forelock::zookeeper
