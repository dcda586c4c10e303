#include "zookeeper/tls_context.h"

#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <exception>
#include <mutex>
#include <utility>

#include "zookeeper/tls_channel.h"
#include "zookeeper/tls_files.h"

namespace forelock::zookeeper {
namespace {

using Digest = std::array<unsigned char, SHA256_DIGEST_LENGTH>;

Digest digest_of(const TlsFiles& files) {
  std::string all;
  for (const std::string* text :
       {&files.authorities, &files.certificate, &files.key, &files.key_password, &files.revocations}) {
    all += std::to_string(text->size()) + ':' + *text;
  }
  Digest digest{};
  SHA256(reinterpret_cast<const unsigned char*>(all.data()), all.size(), digest.data());
  OPENSSL_cleanse(all.data(), all.size());
  return digest;
}

void forget(TlsFiles& files) {
  OPENSSL_cleanse(files.key.data(), files.key.size());
  OPENSSL_cleanse(files.key_password.data(), files.key_password.size());
}

}  // namespace

struct TlsContext::State {
  explicit State(TlsOptions given) : options(std::move(given)) {}

  // The context that the files make now; the one before while they are the same. Files that cannot be used are no
  // reason to go on with those before: they may have been taken away on purpose.
  SSL_CTX* refresh() {
    TlsFiles files = options.read();
    const Digest now = digest_of(files);
    if (!context || now != digest) {
      context.reset();
      try {
        context = make_tls_context(files, options.min_version);
      } catch (...) {
        forget(files);
        throw;
      }
      digest = now;
    }
    forget(files);
    return context.get();
  }

  const TlsOptions options;
  std::mutex mutex;
  TlsHandle<SSL_CTX> context;
  Digest digest{};
};

TlsContext::TlsContext(TlsOptions options) : state_(std::make_unique<State>(std::move(options))) {}

TlsContext::~TlsContext() = default;

void TlsContext::check() const {
  const std::lock_guard guard(state_->mutex);
  state_->refresh();
}

std::unique_ptr<TlsChannel> TlsContext::open(int socket, const std::string& server,
                                             const std::vector<std::string>& names) const {
  const std::vector<std::string>& wanted = state_->options.server_names.empty() ? names : state_->options.server_names;
  if (wanted.empty()) {
    return make_failed_channel(server, "no name in zookeeper.servers has this address: the server cannot be checked");
  }
  try {
    const std::lock_guard guard(state_->mutex);
    return make_tls_channel(state_->refresh(), socket, server, names.empty() ? "" : names.front(), wanted);
  } catch (const std::exception& problem) {
    return make_failed_channel(server, problem.what());
  }
}

}  // namespace forelock::zookeeper
