#include "client/tls_setup.h"

#include <exception>
#include <utility>

#include "config/tls_files.h"
#include "forelock/configuration_error.h"

namespace forelock::client {

namespace {

std::shared_ptr<const zookeeper::TlsContext> make_context(const Settings& settings, bool with_certificate) {
  const TlsSettings& tls = settings.tls();
  if (tls.ca_file.empty()) return nullptr;
  zookeeper::TlsOptions options;
  options.read = [settings, with_certificate] {
    config::TlsTexts texts = config::read_tls_files(settings);
    if (!with_certificate)
      return zookeeper::TlsFiles{.authorities = std::move(texts.authorities),
                                 .revocations = std::move(texts.revocations)};
    return zookeeper::TlsFiles{std::move(texts.authorities), std::move(texts.certificate), std::move(texts.key),
                               std::move(texts.key_password), std::move(texts.revocations)};
  };
  options.server_names = tls.server_names;
  options.min_version =
      tls.min_version == TlsSettings::Version::v1_3 ? zookeeper::TlsVersion::tls_1_3 : zookeeper::TlsVersion::tls_1_2;
  auto context = std::make_shared<const zookeeper::TlsContext>(std::move(options));
  try {
    context->check();
  } catch (const ConfigurationException&) {
    throw;
  } catch (const std::exception& problem) {
    throw ConfigurationException({{"", 0, "zookeeper.tls", problem.what(), "see docs/operating.md, TLS"}});
  }
  return context;
}

}  // namespace

std::shared_ptr<const zookeeper::TlsContext> make_tls(const Settings& settings) {
  return make_context(settings, true);
}

std::shared_ptr<const zookeeper::TlsContext> make_nameless_tls(const Settings& settings) {
  return make_context(settings, false);
}

}  // namespace forelock::client
