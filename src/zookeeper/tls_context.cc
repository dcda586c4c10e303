#include "zookeeper/tls_context.h"

#include <openssl/evp.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

#include "zookeeper/tls_channel.h"
#include "zookeeper/tls_files.h"

namespace forelock::zookeeper {
namespace {

using Digest = std::array<unsigned char, SHA256_DIGEST_LENGTH>;

// Piece by piece: a text of them all would leave the key behind in memory that is not ours any more.
Digest digest_of(const TlsFiles& files) {
  const TlsHandle<EVP_MD_CTX> all(EVP_MD_CTX_new());
  bool good = all && EVP_DigestInit_ex(all.get(), EVP_sha256(), nullptr) == 1;
  for (const std::string* text :
       {&files.authorities, &files.certificate, &files.key, &files.key_password, &files.revocations}) {
    const std::string size = std::to_string(text->size()) + ':';
    good = good && EVP_DigestUpdate(all.get(), size.data(), size.size()) == 1 &&
           EVP_DigestUpdate(all.get(), text->data(), text->size()) == 1;
  }
  Digest digest{};
  good = good && EVP_DigestFinal_ex(all.get(), digest.data(), nullptr) == 1;
  if (!good) throw std::runtime_error("OpenSSL cannot be used: " + openssl_error());
  return digest;
}

// Of the secrets nothing is left behind.
struct Forgotten {
  ~Forgotten() {
    OPENSSL_cleanse(texts.key.data(), texts.key.size());
    OPENSSL_cleanse(texts.key_password.data(), texts.key_password.size());
  }
  TlsFiles texts;
};

}  // namespace

struct TlsContext::State {
  explicit State(TlsOptions given) : options(std::move(given)) {}

  // The context that the files make now; the one before while they are the same. Files that cannot be used are no
  // reason to go on with those before: they may have been taken away on purpose.
  SSL_CTX* refresh() {
    Forgotten files{options.read()};
    const Digest now = digest_of(files.texts);
    if (!context || now != digest) {
      context.reset();
      context = make_tls_context(files.texts, options.min_version);
      digest = now;
    }
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
