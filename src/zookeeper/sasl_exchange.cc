// Exchanges over Cyrus SASL.
#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstring>
#include <exception>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "zookeeper/sasl_context.h"
#include "zookeeper/sasl_library.h"

namespace forelock::zookeeper {
namespace {

// What every ZooKeeper server calls itself in DIGEST-MD5, wherever it runs.
constexpr const char* digest_host = "zk-sasl-md5";
constexpr const char* digest_service = "zookeeper";

const char* name_of_mechanism(SaslMechanism mechanism) {
  return mechanism == SaslMechanism::digest_md5 ? "DIGEST-MD5" : "GSSAPI";
}

// What the library tells may be the server's words, and messages go to terminals.
std::string shown(const char* text) {
  constexpr std::size_t enough = 300;
  std::string all(text != nullptr ? text : "");
  if (all.size() > enough) all.resize(enough);
  std::replace_if(
      all.begin(), all.end(), [](unsigned char c) { return std::isprint(c) == 0; }, '?');
  return all;
}

// Lives until its connection is disposed of: the library calls it back.
class CyrusExchange {
 public:
  using Step = SaslExchange::Step;

  CyrusExchange(const SaslOptions& options, const std::string& host)
      : options_(options), host_(options.mechanism == SaslMechanism::digest_md5 ? digest_host : host) {}

  ~CyrusExchange() {
    if (!secret_.empty()) explicit_bzero(secret_.data(), secret_.size());
  }
  CyrusExchange(const CyrusExchange&) = delete;
  CyrusExchange& operator=(const CyrusExchange&) = delete;

  Step step(std::string_view received) {
    reply_.clear();
    try {
      if (connection_ == nullptr) return begin();
      if (std::exchange(last_expected_, false)) return Step::over;
      return go_on(received);
    } catch (const SaslBusy& problem) {
      postponed_ = true;
      problem_ = problem.what();
      return Step::failed;
    } catch (const std::exception& problem) {
      problem_ = problem.what();
      return Step::failed;
    }
  }

  bool begun() const { return connection_ != nullptr; }
  void dispose(const SaslFunctions& library) { library.dispose(&connection_); }
  const std::string& reply() const { return reply_; }
  const std::string& problem() const { return problem_; }
  bool postponed() const { return postponed_; }

 private:
  using AnyFunction = int (*)();

  bool is_digest() const { return options_.mechanism == SaslMechanism::digest_md5; }

  Step begin() {
    if (host_.empty()) throw std::runtime_error("no name in zookeeper.servers has its address: it has no principal");
    if (is_digest()) take_password();
    const auto entry = [this](unsigned long id, auto function) {
      return sasl_callback_t{id, reinterpret_cast<AnyFunction>(reinterpret_cast<void (*)()>(function)), this};
    };
    callbacks_ = {
        entry(SASL_CB_LOG, &CyrusExchange::give_log),        entry(SASL_CB_USER, &CyrusExchange::give_name),
        entry(SASL_CB_AUTHNAME, &CyrusExchange::give_name),  entry(SASL_CB_PASS, &CyrusExchange::give_secret),
        entry(SASL_CB_GETREALM, &CyrusExchange::give_realm), sasl_callback_t{SASL_CB_LIST_END, nullptr, nullptr}};
    const SaslUse library;
    const std::string& service = is_digest() ? std::string(digest_service) : options_.service;
    if (library->client_new(service.c_str(), host_.c_str(), nullptr, nullptr, callbacks_.data(), 0, &connection_) !=
        SASL_OK) {
      throw std::runtime_error("libsasl2 cannot begin");
    }
    // ZooKeeper's protocol has no place for what a mechanism would encrypt or sign: that is for TLS.
    sasl_security_properties_t properties{};
    properties.security_flags = SASL_SEC_NOANONYMOUS | SASL_SEC_NOPLAINTEXT;
    library->setprop(connection_, SASL_SEC_PROPS, &properties);
    const char* reply = nullptr;
    const char* chosen = nullptr;
    unsigned size = 0;
    const int code =
        library->client_start(connection_, name_of_mechanism(options_.mechanism), nullptr, &reply, &size, &chosen);
    if (code != SASL_OK && code != SASL_CONTINUE) return failed(library, code);
    // What DIGEST-MD5 would begin with is a short way back into an earlier exchange, which Java's server takes wrongly.
    if (!is_digest()) reply_.assign(reply != nullptr ? reply : "", reply != nullptr ? size : 0);
    last_expected_ = code == SASL_OK;
    return Step::goes_on;
  }

  Step go_on(std::string_view received) {
    const bool first = !std::exchange(answered_, true);
    if (first && received.empty()) {
      throw std::runtime_error("it has no SASL: has it a JAAS file with a section Server?");
    }
    const SaslUse library;
    const char* reply = nullptr;
    unsigned size = 0;
    const int code = library->client_step(connection_, received.data(), static_cast<unsigned>(received.size()), nullptr,
                                          &reply, &size);
    if (code != SASL_OK && code != SASL_CONTINUE) return failed(library, code);
    reply_.assign(reply != nullptr ? reply : "", reply != nullptr ? size : 0);
    if (first && is_digest()) check_realm();
    if (code == SASL_OK && is_digest()) return Step::over;
    // A server of GSSAPI says at the end whether it has accepted this client.
    last_expected_ = code == SASL_OK;
    return Step::goes_on;
  }

  // Where there is one realm alone the library asks for none. What it has made of the challenge stands in the reply, in
  // which it quotes all that is the server's.
  void check_realm() const {
    if (options_.realm.empty() || reply_.find(",realm=\"" + options_.realm + "\",") != std::string::npos) return;
    throw std::runtime_error("it does not offer the realm of zookeeper.sasl.realm");
  }

  Step failed(const SaslUse& library, int code) {
    if (code == SASL_BADSERV) {
      problem_ = "it has not shown that it knows the password: is it the server that is meant?";
    } else {
      problem_ = shown(library->errdetail(connection_));
      if (!is_digest())
        problem_ += ": check this client's Kerberos credentials (klist) and the names in zookeeper.servers";
    }
    return Step::failed;
  }

  void take_password() {
    std::string password = options_.read_password();
    // The structure ends in an array of one character.
    secret_.assign(sizeof(sasl_secret_t) + password.size(), '\0');
    auto* const secret = reinterpret_cast<sasl_secret_t*>(secret_.data());
    secret->len = password.size();
    std::memcpy(secret_.data() + offsetof(sasl_secret_t, data), password.data(), password.size());
    explicit_bzero(password.data(), password.size());
  }

  // It would write to the system's log.
  static int give_log(void* /*self*/, int /*level*/, const char* /*message*/) { return SASL_OK; }

  static int give_name(void* self, int id, const char** result, unsigned* size) {
    const CyrusExchange& exchange = *static_cast<CyrusExchange*>(self);
    // Acting for another user is asked of no server.
    const std::string& name = exchange.options_.user;
    *result = id == SASL_CB_USER ? "" : name.c_str();
    if (size != nullptr) *size = id == SASL_CB_USER ? 0 : static_cast<unsigned>(name.size());
    return SASL_OK;
  }

  static int give_secret(sasl_conn_t* /*connection*/, void* self, int /*id*/, sasl_secret_t** result) {
    *result = reinterpret_cast<sasl_secret_t*>(static_cast<CyrusExchange*>(self)->secret_.data());
    return SASL_OK;
  }

  static int give_realm(void* self, int /*id*/, const char** offered, const char** result) {
    const CyrusExchange& exchange = *static_cast<CyrusExchange*>(self);
    const bool any = exchange.options_.realm.empty();
    *result = !any ? exchange.options_.realm.c_str() : offered != nullptr && *offered != nullptr ? *offered : "";
    return SASL_OK;
  }

  const SaslOptions options_;
  const std::string host_;
  std::array<sasl_callback_t, 6> callbacks_{};
  std::vector<char> secret_;
  sasl_conn_t* connection_ = nullptr;
  std::string reply_;
  std::string problem_;
  bool postponed_ = false;
  bool answered_ = false;
  bool last_expected_ = false;
};

class Exchange final : public SaslExchange {
 public:
  explicit Exchange(std::shared_ptr<CyrusExchange> cyrus) : cyrus_(std::move(cyrus)) {}
  // Whoever closes a connection does not wait for a KDC that is asked for another one.
  ~Exchange() override {
    if (!cyrus_->begun()) return;
    SaslUse::when_free([cyrus = cyrus_](const SaslFunctions& library) { cyrus->dispose(library); });
  }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  Step step(std::string_view received) override { return cyrus_->step(received); }
  std::string_view reply() const override { return cyrus_->reply(); }
  const std::string& problem() const override { return cyrus_->problem(); }
  bool postponed() const override { return cyrus_->postponed(); }

 private:
  const std::shared_ptr<CyrusExchange> cyrus_;
};

}  // namespace

SaslContext::SaslContext(SaslOptions options) : options_(std::move(options)) {}

SaslContext::~SaslContext() = default;

void SaslContext::check() const {
  try {
    const SaslUse library;
    if (!library.knows(mechanism())) {
      const bool digest = options_.mechanism == SaslMechanism::digest_md5;
      throw std::runtime_error(std::string("libsasl2 has no ") + mechanism() +
                               " on this machine: install libsasl2-modules" + (digest ? "" : "-gssapi-mit"));
    }
  } catch (const SaslBusy&) {  // so it is there
  }
  if (options_.mechanism != SaslMechanism::digest_md5) return;
  std::string password = options_.read_password();
  explicit_bzero(password.data(), password.size());
}

std::unique_ptr<SaslExchange> SaslContext::open(std::string host) const {
  return std::make_unique<Exchange>(std::make_shared<CyrusExchange>(options_, host));
}

const char* SaslContext::mechanism() const {
  return name_of_mechanism(options_.mechanism);
}

}  // namespace forelock::zookeeper
