// SASL through the C interface, on a real server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "forelock/c.h"
#include "integration/fixture.h"
#include "support/sasl_setup.h"
#include "support/test_server.h"

namespace forelock::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class CSasl : public testing::Test {
 protected:
  std::int32_t acquire(const std::string& password_file) {
    fl_config config = 0;
    EXPECT_EQ(fl_config_new(&config), FL_OK);
    const std::string servers = server_.connect_string();
    const char* const keys[] = {"zookeeper.servers", "zookeeper.sasl.mechanism", "zookeeper.sasl.user",
                                "zookeeper.sasl.password.file"};
    const char* const values[] = {servers.c_str(), "DIGEST-MD5", "alice", password_file.c_str()};
    EXPECT_EQ(fl_config_set_all(config, keys, values, 4), FL_OK) << fl_last_message();
    fl_client client = 0;
    const std::int32_t opened = fl_client_open(config, 0, &client);
    EXPECT_EQ(fl_config_free(config), FL_OK);
    if (opened != FL_OK) return opened;
    fl_lock lock = 0;
    EXPECT_EQ(fl_lock_new(client, "test", "P1", FL_FOREGROUND, nullptr, &lock), FL_OK);
    const std::int32_t code = fl_lock_acquire(lock, 60'000);
    message_ = fl_last_message();
    EXPECT_EQ(fl_client_free(client), FL_OK);
    return code;
  }

  SaslSetup users_;
  TestServer server_{users_.options(SaslSetup::Enforced::yes, quick_server())};
  std::string message_;
};

TEST_F(CSasl, ARightPasswordAndAWrongOne) {
  EXPECT_EQ(acquire(users_.password_file("alice")), FL_OK) << message_;
  EXPECT_EQ(acquire(users_.password_file("wrong")), FL_NOT_AUTHORIZED);
  EXPECT_THAT(message_, AllOf(HasSubstr("refuses this client's credentials"), Not(HasSubstr("hunter2"))));
  EXPECT_EQ(acquire(users_.folder() / "none"), FL_CONFIGURATION);
}

}  // namespace
}  // namespace forelock::test
