#include "support/sasl_setup.h"

#include <sys/stat.h>

#include <fstream>
#include <utility>

namespace forelock::test {

SaslSetup::SaslSetup() {
  change_password("wonder land");
  for (const auto& [user, password] :
       {std::pair("alice", "wonder land"), std::pair("bob", "can we fix it"), std::pair("wrong", "hunter2")}) {
    std::ofstream(password_file(user)) << password << "\n";
    ::chmod(password_file(user).c_str(), 0600);
  }
}

void SaslSetup::change_password(const std::string& password) const {
  std::ofstream(folder_.path() / "jaas.conf") << "Server {\n"
                                                 "  org.apache.zookeeper.server.auth.DigestLoginModule required\n"
                                                 "  user_alice=\""
                                              << password
                                              << "\"\n"
                                                 "  user_bob=\"can we fix it\";\n"
                                                 "};\n";
}

std::filesystem::path SaslSetup::password_file(const std::string& user) const {
  return folder_.path() / (user + ".password");
}

ServerOptions SaslSetup::options(Enforced enforced, ServerOptions others) const {
  others.java_properties.push_back("java.security.auth.login.config=" + (folder_.path() / "jaas.conf").string());
  others.config_lines.emplace_back("authProvider.1=org.apache.zookeeper.server.auth.SASLAuthenticationProvider");
  if (enforced == Enforced::yes) {
    others.config_lines.emplace_back("enforce.auth.enabled=true");
    others.config_lines.emplace_back("enforce.auth.schemes=sasl");
  }
  return others;
}

}  // namespace forelock::test
