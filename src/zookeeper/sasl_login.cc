#include "zookeeper/sasl_login.h"

#include <cerrno>
#include <exception>
#include <string_view>
#include <utility>

#include "zookeeper/peer_name.h"

namespace forelock::zookeeper {

#ifdef FORELOCK_TLS

struct SaslLogin::Attempt {
  const SaslLogin& owner;
  std::string server;
  std::unique_ptr<SaslExchange> exchange;

  static Attempt& of(void* attempt) { return *static_cast<Attempt*>(attempt); }
};

SaslLogin::SaslLogin(std::shared_ptr<const SaslContext> context, std::shared_ptr<const NameLookup> names, Report report)
    : context_(std::move(context)), names_(std::move(names)), report_(std::move(report)) {
  functions_.context = this;
  functions_.open = [](void* self, const sockaddr_storage* server) -> void* {
    try {
      const SaslLogin& login = *static_cast<SaslLogin*>(self);
      const PeerName peer = name_of_peer(*login.names_, *server);
      return new Attempt{login, peer.text, login.context_->open(peer.names.empty() ? "" : peer.names.front())};
    } catch (const std::exception&) {
      errno = ENOMEM;
      return nullptr;
    }
  };
  functions_.step = [](void* attempt, const char* received, int count, const char** reply, int* reply_count) {
    SaslExchange& exchange = *Attempt::of(attempt).exchange;
    const auto step = exchange.step({received, count > 0 ? static_cast<std::size_t>(count) : 0});
    if (step == SaslExchange::Step::failed) return -1;
    *reply = exchange.reply().data();
    *reply_count = static_cast<int>(exchange.reply().size());
    return step == SaslExchange::Step::over ? ZOO_EXCHANGE_OVER : ZOO_EXCHANGE_GOES_ON;
  };
  functions_.reason = [](void* attempt) -> const char* {
    const std::string& problem = Attempt::of(attempt).exchange->problem();
    return problem.empty() ? nullptr : problem.c_str();
  };
  functions_.close = [](void* attempt, int code) {
    const std::unique_ptr<Attempt> self(&Attempt::of(attempt));
    const int error = errno;
    const bool given_up = finish(*self, code);
    errno = error;
    return given_up ? 1 : 0;
  };
}

bool SaslLogin::finish(const Attempt& attempt, int code) {
  const std::string& own = attempt.exchange->problem();
  const std::string mechanism = attempt.owner.context_->mechanism();
  const auto report = [&](End end, const std::string& problem) {
    const std::string text = "SASL to " + attempt.server + ": " + problem;
    return attempt.owner.report_(attempt.server, end, end == End::accepted ? std::string() : text);
  };
  if (code == ZOK) return report(End::accepted, {});
  if (!own.empty()) return report(attempt.exchange->postponed() ? End::unanswered : End::refused, own);
  switch (code) {
    case ZAUTHFAILED:
    case ZSESSIONCLOSEDREQUIRESASLAUTH:
      return report(End::refused, "it refuses this client's credentials (" + mechanism +
                                      "): check zookeeper.sasl.… here, and the server's JAAS file and log");
    case ZCONNECTIONLOSS:
      return report(End::cut_short, "it has ended the connection during " + mechanism +
                                        ": check zookeeper.sasl.… here, and the server's JAAS file and log");
    default:
      return report(End::unanswered,
                    "it has not answered " + mechanism + ": has it a JAAS file, and that mechanism in it?");
  }
}

#endif

}  // namespace forelock::zookeeper
