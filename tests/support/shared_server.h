// One server for all tests of a suite.
#pragma once

#include <gtest/gtest.h>

#include "support/test_server.h"

namespace forelock::test {

// The base of a suite's class.
template <class Base = ::testing::Test, ServerOptions (*options)() = quick_server>
class SharedServerTest : public Base {
 protected:
  static void SetUpTestSuite() { server_ = new TestServer(options()); }
  static void TearDownTestSuite() { delete std::exchange(server_, nullptr); }

  static inline TestServer* server_ = nullptr;
};

}  // namespace forelock::test
