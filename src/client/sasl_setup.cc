#include "client/sasl_setup.h"

#include <exception>
#include <utility>

#include "config/setting_file.h"
#include "forelock/configuration_error.h"

namespace forelock::client {

std::shared_ptr<const zookeeper::SaslContext> make_sasl(const Settings& settings) {
  const SaslSettings& sasl = settings.sasl();
  if (sasl.mechanism == SaslSettings::Mechanism::none) return nullptr;
  zookeeper::SaslOptions options;
  options.mechanism = sasl.mechanism == SaslSettings::Mechanism::gssapi ? zookeeper::SaslMechanism::gssapi
                                                                        : zookeeper::SaslMechanism::digest_md5;
  options.user = sasl.user;
  options.read_password = [settings] {
    return config::read_password(settings, config::OptionId::sasl_password_file, "the user's password");
  };
  options.service = sasl.service;
  options.realm = sasl.realm;
  auto context = std::make_shared<const zookeeper::SaslContext>(std::move(options));
  try {
    context->check();
  } catch (const ConfigurationException&) {
    throw;
  } catch (const std::exception& problem) {
    throw ConfigurationException({{"", 0, "zookeeper.sasl.mechanism", problem.what(), "see docs/operating.md, SASL"}});
  }
  return context;
}

}  // namespace forelock::client
