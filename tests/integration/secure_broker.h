#pragma once

#include <filesystem>
#include <string>

#include "support/temporary_directory.h"
#include "support/test_broker.h"

namespace forelock::test {

// A broker with a certificate of its own making, two users, and an authorizer that permits everything to one of them,
// alice; besides without a password, on the listener PLAINTEXT, to everybody.
class SecureBroker {
 public:
  static constexpr const char* password = "s3cret-of-alice";

  SecureBroker() : broker_((make_certificate(), options())) {}

  TestBroker& broker() { return broker_; }
  // "broker.pem" is its certificate.
  std::filesystem::path file(const std::string& name) const { return directory_.path() / name; }
  // A file with mode 0600.
  std::string secret_file(const std::string& name, const std::string& content) const;

 private:
  void make_certificate() const;
  BrokerOptions options() const;

  TemporaryDirectory directory_;
  TestBroker broker_;
};

}  // namespace forelock::test
