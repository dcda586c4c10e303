#pragma once

#include <filesystem>
#include <string>

#include "support/temporary_directory.h"
#include "support/test_server.h"

namespace forelock::test {

// Users for SASL's DIGEST-MD5, and the files that servers and clients have of them: alice's password is "wonder land",
// bob's "can we fix it".
class SaslSetup {
 public:
  SaslSetup();

  enum class Enforced { no, yes };
  // For a server that knows these users; with `yes` it serves nobody else.
  ServerOptions options(Enforced enforced, ServerOptions others = {}) const;

  // What alice's password is on servers that start from now on.
  void change_password(const std::string& password) const;

  // Of "alice" or "bob", or a wrong one that could be either's.
  std::filesystem::path password_file(const std::string& user) const;
  // For files of the test's own.
  const std::filesystem::path& folder() const { return folder_.path(); }

 private:
  TemporaryDirectory folder_;
};

}  // namespace forelock::test
