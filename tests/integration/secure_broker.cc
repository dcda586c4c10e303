#include "integration/secure_broker.h"

#include <sys/wait.h>

#include <fstream>
#include <stdexcept>
#include <utility>
#include <vector>

#include "support/child_process.h"

namespace forelock::test {
namespace {

void run_keytool(std::vector<std::string> arguments, const std::filesystem::path& output) {
  arguments.insert(arguments.begin(), "keytool");
  const int status = ChildProcess(std::move(arguments), output).wait();
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  std::ifstream said(output);
  throw std::runtime_error("keytool failed: " + std::string(std::istreambuf_iterator<char>(said), {}));
}

}  // namespace

std::string SecureBroker::secret_file(const std::string& name, const std::string& content) const {
  std::ofstream(file(name)) << content;
  std::filesystem::permissions(file(name), std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  return file(name).string();
}

void SecureBroker::make_certificate() const {
  const std::string store = file("broker.p12").string();
  run_keytool({"-genkeypair", "-alias", "broker", "-keyalg", "EC", "-keystore", store, "-storetype", "PKCS12",
               "-storepass", "changeit", "-dname", "CN=127.0.0.1", "-ext", "SAN=IP:127.0.0.1"},
              file("keytool.log"));
  run_keytool({"-exportcert", "-rfc", "-alias", "broker", "-keystore", store, "-storepass", "changeit", "-file",
               file("broker.pem").string()},
              file("keytool.log"));
}

BrokerOptions SecureBroker::options() const {
  return {.config_lines = {"ssl.keystore.location=" + file("broker.p12").string(), "ssl.keystore.type=PKCS12",
                           "ssl.keystore.password=changeit", "sasl.enabled.mechanisms=PLAIN",
                           "listener.name.sasl_ssl.plain.sasl.jaas.config=org.apache.kafka.common.security.plain."
                           "PlainLoginModule required user_alice=\"" +
                               std::string(password) + "\" user_bob=\"builder\";",
                           "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer",
                           "super.users=User:ANONYMOUS;User:alice", "auto.create.topics.enable=true"},
          .listeners = {"SASL_SSL"}};
}

}  // namespace forelock::test
