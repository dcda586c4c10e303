// forelock serve: a live page, an API and metrics of a namespace.
#include <pwd.h>
#include <signal.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "cli/audit_file.h"
#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/exit_code.h"
#include "cli/failure.h"
#include "cli/not_empty.h"
#include "cli/output/quantity_text.h"
#include "cli/process/signal_queue.h"
#include "cli/serve/acts.h"
#include "cli/serve/admin_tokens.h"
#include "cli/serve/board.h"
#include "cli/serve/collector.h"
#include "cli/serve/history/history.h"
#include "cli/serve/tls_files.h"
#include "cli/serve/unlocker.h"
#include "config/quantity.h"
#include "web/server.h"

namespace forelock::cli {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds default_sweep_after = std::chrono::hours(1);
constexpr std::int64_t highest_port = 65535;
constexpr std::int64_t smallest_history = 1024 * 1024;

struct Address {
  std::string host;  // numeric
  std::uint16_t port = 0;
};

Address parse_listen(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  std::string host = text.substr(0, colon);
  const auto port = colon == std::string::npos ? std::nullopt : config::parse_number(text.substr(colon + 1));
  if (!port || *port < 0 || *port > highest_port || host.empty())
    throw_usage("--listen " + text + ": not an address and a port", "for example --listen 127.0.0.1:9300");
  if (host == "localhost") host = "127.0.0.1";
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return {host, static_cast<std::uint16_t>(*port)};
}

std::unique_ptr<web::Server> listen(web::ServerOptions options, web::Site& site) {
  const std::string where = options.address + ':' + std::to_string(options.port);
  try {
    return std::make_unique<web::Server>(std::move(options), site);
  } catch (const std::system_error& problem) {
    throw FailureException({exit_unavailable,
                            "cannot_listen",
                            "cannot listen at " + where + ": " + problem.code().message(),
                            "--listen 127.0.0.1:0 takes a free port",
                            {},
                            false,
                            {}});
  } catch (const FailureException&) {
    throw;
  } catch (const std::runtime_error& problem) {  // of TLS
    throw FailureException({exit_configuration,
                            "tls",
                            problem.what(),
                            "--tls-certificate and --tls-key take PEM: the whole chain, and its key without a password",
                            {},
                            false,
                            {}});
  }
}

class ServeCommand final : public Command {
 public:
  CLI::App* add_to(CLI::App& root) override {
    CLI::App* app = root.add_subcommand("serve", "Show holders and chains of waits: a live page, JSON, metrics");
    app->footer(
        "/               the page; /monitors/ID is one monitor's\n"
        "/api/monitors   as `forelock ls -o json`, without sessions; /api/monitors/ID as `forelock show -o json`\n"
        "/api/chains     the chains of waits over all monitors\n"
        "/api/orders     nested locks taken in both orders, before they ever hang\n"
        "/api/events     server-sent events: a snapshot, then changes\n"
        "/api/history/ID with --history: who held it and waited; at=, from=, to=\n"
        "/api/dead-letters with --dead-letters: numbers, letters, one letter at /ID\n"
        "/api/audit      with --audit-file, for admins: what was done by force\n"
        "/metrics        for Prometheus; /livez and /readyz for health checks\n"
        "Who reaches it reads everything but sessions: it listens at this machine alone, or with TLS for those with a\n"
        "client certificate. With --admin those who have a token may take locks away. With --unlocker, one of all that "
        "run frees the holders that were locked with\n"
        "--auto-unlock-after (auto_unlock_after), when their time is over, and does the work of forelock sweep.\n"
        "Options for every command: see forelock --help");
    app->add_option("--listen", listen_, "Listen here; port 0 is a free one [127.0.0.1:9300]")->type_name("HOST:PORT");
    app->add_option("--allow-host", hosts_, "Also answer under this name, a proxy's say (repeatable)")
        ->type_name("NAME")
        ->expected(1)
        ->take_all();
    app->add_option("--tls-certificate", tls_.certificate,
                    "Speak TLS with this certificate chain; read when it changes")
        ->type_name("FILE")
        ->check(not_empty());
    app->add_option("--tls-key", tls_.key, "Its private key, in a file that is closed to others")
        ->type_name("FILE")
        ->check(not_empty());
    app->add_option("--tls-client-ca", tls_.client_authorities,
                    "Let those in whose certificate is of these authorities")
        ->type_name("FILE")
        ->check(not_empty());
    app->add_flag("--readable-by-all", readable_by_all_, "With TLS, let other machines read without a certificate");
    app->add_flag("--unlocker", unlock_, "Also free the holders that have asked for it, when their time is over");
    add_duration(*app, "--sweep-after", sweep_after_, "With --unlocker: remove monitors unused for so long [1h]");
    app->add_option("--admin", admin_, "Permit acts to those with a token in this file: lines of NAME TOKEN [UNTIL]")
        ->type_name("FILE")
        ->check(not_empty());
    app->add_option("--proxy-header", proxy_header_,
                    "With --admin: believe this header of a proxy, which names an admin")
        ->type_name("HEADER")
        ->check(not_empty());
    app->add_option("--proxy-owner", proxy_owner_, "The user of this machine that the proxy runs as")
        ->type_name("USER")
        ->check(not_empty());
    app->add_flag("--dead-letters", letters_, "Also show the dead letters, and their payloads to admins");
    app->add_option("--history", history_, "Keep who held and waited when in this file, for /api/history and the page")
        ->type_name("FILE")
        ->check(not_empty());
    add_duration(*app, "--history-keep", history_keep_, "For how long [7d]");
    app->add_option("--history-size", history_size_, "Of which size at most: the oldest goes first [256 MiB]")
        ->type_name("SIZE");
    return app;
  }

  int run(const Context& context) override {
    const Address address = checked_address();
    const HistoryLimits limits = history_limits();
    SignalQueue signals({SIGINT, SIGTERM, SIGHUP});
    const Settings settings = context.globals.settings();
    CommandClient client(settings, context.console, client::ClientUse::looks);
    Board board(*client);
    const std::unique_ptr<web::Server> server = listen(server_options(address, context), board);
    board.publish_through(*server);
    std::optional<History> history;
    if (!history_.empty()) remember(history, limits, board, *server, context.console);
    BackRoom back_room;
    const std::optional<Acts::Letters> letters = shown_letters(settings, context.console);
    board.read_through(back_room, letters, AuditFile::instance().path());
    Acts acts(*client, patience(settings), context.console,
              [&](const std::string& monitor, const HolderView& holder, const std::string& reason) {
                if (history) history->explain_end(monitor, holder, "forced", reason);
              });
    if (letters) acts.use_letters(*letters);
    if (!admin_.empty()) board.act_through(acts);
    const auto unlocked = [&](const std::string& monitor, const HolderView& holder, const std::string& reason) {
      if (history) history->explain_end(monitor, holder, "unlocked", reason);
      server->post([&board, monitor, holder, reason] { board.tell_unlocked(monitor, holder, reason); });
    };
    std::optional<Unlocker> unlocker;
    if (unlock_) {
      const milliseconds sweep_after = sweep_after_.value_or(default_sweep_after);
      board.show_unlocker(unlocker.emplace(*client, patience(settings), sweep_after, context.console, unlocked));
    }
    const auto take = [&](std::shared_ptr<const Picture> picture, std::vector<web::Event> events) {
      if (unlocker) unlocker->take(picture);
      if (history) history->take(picture);
      server->post([&board, picture, events = std::move(events)] { board.take(picture, events); });
    };
    const auto fail = [&](std::string problem) {
      server->post([&board, problem = std::move(problem)] { board.fail(problem); });
    };
    Collector collector(*client, patience(settings), take, fail);
    board.show_look(collector.counts());
    server->start();
    back_room.start();
    if (history) history->start();
    if (!admin_.empty()) acts.start();
    if (unlocker) unlocker->start();
    collector.start();
    announce(context.console, tls_.used() ? "https://" : "http://", address.host, server->port());
    wait_for(signals);
    acts.begin_stop();
    back_room.begin_stop();
    if (unlocker) unlocker->begin_stop();
    collector.begin_stop();
    client.close();  // ends a look that waits for a silent server
    collector.stop();
    acts.stop();
    if (unlocker) unlocker->stop();
    back_room.stop();
    if (history) history->stop();
    server->stop();
    return exit_ok;
  }

 private:
  Address checked_address() const {
    Address address = parse_listen(listen_);
    tls_.check();
    check_reach(address.host, tls_, readable_by_all_);
    return address;
  }

  web::ServerOptions server_options(const Address& address, const Context& context) const {
    web::ServerOptions options;
    options.address = address.host;
    options.port = address.port;
    options.host_names = hosts_;
    if (!admin_.empty()) options.admins = read_admins(admin_);
    options.proxy = proxy();
    if (tls_.used()) {
      options.tls = [this] { return read_tls_files(tls_); };
      options.tls_problem = [&context](const std::string& problem) {
        context.console.warn("TLS: " + problem + "; what was read before is still in use");
      };
    }
    return options;
  }

  void remember(std::optional<History>& history, const HistoryLimits& limits, Board& board, web::Server& server,
                const Console& console) const {
    history.emplace(history_, limits, [&board, &server, &console](std::string problem) {
      if (!problem.empty()) console.warn("history: " + problem);
      server.post([&board, problem = std::move(problem)] { board.tell_history_problem(problem); });
    });
    board.remember_through(*history);
  }

  std::optional<Acts::Letters> shown_letters(const Settings& settings, const Console& console) const {
    if (!letters_) return std::nullopt;
    return Acts::Letters{settings, dead_letter_log(console)};
  }

  static void wait_for(SignalQueue& signals) {
    const WakeUp wake_up;  // never notified: signals are all there is to wait for
    while (!signals.wait(wake_up, std::chrono::steady_clock::time_point::max())) {
    }
  }

  std::optional<web::Proxy> proxy() const {
    if (proxy_header_.empty() && proxy_owner_.empty()) return std::nullopt;
    if (proxy_header_.empty() || proxy_owner_.empty() || admin_.empty())
      throw_usage("--proxy-header, --proxy-owner and --admin belong together",
                  "a header is believed from a proxy of one user, for the admins of that file");
    const bool is_name = std::all_of(proxy_header_.begin(), proxy_header_.end(), [](char letter) {
      return letter == '-' || (letter >= '0' && letter <= '9') || (letter >= 'A' && letter <= 'Z') ||
             (letter >= 'a' && letter <= 'z');
    });
    if (!is_name) throw_usage("--proxy-header " + proxy_header_ + ": not a header's name", "for example X-Remote-User");
    const passwd* const user = ::getpwnam(proxy_owner_.c_str());
    if (user == nullptr)
      throw_usage("--proxy-owner " + proxy_owner_ + ": there is no such user", "for example www-data");
    return web::Proxy{proxy_header_, user->pw_uid};
  }

  HistoryLimits history_limits() const {
    HistoryLimits limits;
    if (history_keep_) limits.keep = *history_keep_;
    if (history_size_.empty()) return limits;
    const auto size = config::parse_size(history_size_);
    if (!size || *size < smallest_history)
      throw_usage("--history-size " + history_size_ + ": not a size of at least 1 MiB", "for example 256MiB");
    limits.size = *size;
    return limits;
  }

  static void announce(const Console& console, const std::string& scheme, const std::string& host, std::uint16_t port) {
    const bool six = host.find(':') != std::string::npos;
    const std::string url = scheme + (six ? '[' + host + ']' : host) + ':' + std::to_string(port) + '/';
    if (console.text()) {
      console.write(url + '\n');
      console.note("Ctrl-C ends it");
    } else {
      console.write_json({{"url", url}});
    }
  }

  std::string listen_ = "127.0.0.1:9300";
  std::vector<std::string> hosts_;
  std::string admin_;
  std::string proxy_header_;
  std::string proxy_owner_;
  TlsFiles tls_;
  bool readable_by_all_ = false;
  bool unlock_ = false;
  std::optional<milliseconds> sweep_after_;
  bool letters_ = false;
  std::string history_;
  std::optional<milliseconds> history_keep_;
  std::string history_size_;
};

}  // namespace

std::unique_ptr<Command> make_serve_command() {
  return std::make_unique<ServeCommand>();
}

}  // namespace forelock::cli
