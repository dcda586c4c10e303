// Brokers' names and a name server that is late or silent.
#include "kafka/name_service.h"
#include "support/test.h"
#include "support/wait_until.h"

namespace forelock::kafka {
namespace {

class NameServiceTest : public ::testing::Test {
 protected:
  NameServiceTest() {
    hints_.ai_family = AF_INET;
    hints_.ai_socktype = SOCK_STREAM;
    hints_.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  }

  int resolve() {
    addrinfo* found = nullptr;
    const int code = names_.resolve("127.0.0.1", "9092", &hints_, &found);
    if (code == 0) resolve_broker(nullptr, nullptr, nullptr, &found, nullptr);
    return code;
  }

  std::promise<void> answer_;
  std::shared_future<void> may_answer_ = answer_.get_future().share();
  std::shared_ptr<std::atomic<int>> asked_ = std::make_shared<std::atomic<int>>(0);
  addrinfo hints_{};
  NameService names_{[may_answer = may_answer_, asked = asked_](const char* node, const char* service,
                                                                const addrinfo* hints, addrinfo** found) {
    ++*asked;
    may_answer.wait();
    return getaddrinfo(node, service, hints, found);
  }};
};

TEST_F(NameServiceTest, AnAnswerIsPassedOn) {
  answer_.set_value();
  EXPECT_EQ(resolve(), 0);
  EXPECT_EQ(resolve(), 0);
  EXPECT_EQ(*asked_, 2) << "each time anew";
}

TEST_F(NameServiceTest, ALateAnswerIsForTheNextOne) {
  EXPECT_EQ(resolve(), EAI_AGAIN);
  EXPECT_EQ(resolve(), EAI_AGAIN);
  EXPECT_EQ(*asked_, 1) << "one look-up at a time";
  answer_.set_value();
  EXPECT_TRUE(test::wait_until([&] { return resolve() == 0; }, 10s));
  EXPECT_EQ(*asked_, 1);
}

TEST_F(NameServiceTest, ALookUpOutlivesItsService) {
  {
    NameService names([may_answer = may_answer_, asked = asked_](const char* node, const char* service,
                                                                 const addrinfo* hints, addrinfo** found) {
      may_answer.wait();
      ++*asked;
      return getaddrinfo(node, service, hints, found);
    });
    addrinfo* found = nullptr;
    EXPECT_EQ(names.resolve("127.0.0.1", "9092", &hints_, &found), EAI_AGAIN);
  }
  answer_.set_value();
  EXPECT_TRUE(test::wait_until([&] { return *asked_ == 1; }, 10s));
}

}  // namespace
}  // namespace forelock::kafka
