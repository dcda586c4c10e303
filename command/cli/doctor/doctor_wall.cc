#include "cli/doctor/doctor_wall.h"

#include <chrono>
#include <optional>

#include "cli/doctor/doctor_checks.h"
#include "client/tls_setup.h"
#include "config/quantity.h"

namespace forelock::cli {
namespace {

constexpr std::chrono::milliseconds wall_patience{2000};
constexpr std::int64_t last_port = 65535;

}  // namespace

DoctorWall::DoctorWall(const Settings& settings)
    : with_credentials_(!settings.auth_digest_file().empty() ||
                        settings.sasl().mechanism != SaslSettings::Mechanism::none),
      nameless_(client::make_nameless_tls(settings)) {}

void DoctorWall::examine(const ServerAddress& server, const std::string& name, const zookeeper::ProbeTls& tls,
                         DoctorReport& report) const {
  if (nameless_ == nullptr) {
    examine_plain(server, name, report);
  } else {
    examine_certificates(server, name, tls, report);
    examine_other_port(server, name, tls, report);
  }
}

void DoctorWall::examine_plain(const ServerAddress& server, const std::string& name, DoctorReport& report) const {
  const auto open = zookeeper::serves_without_credentials(server.host, server.port, wall_patience);
  if (!open) return;
  if (!*open) {
    report.ok("access", name + " serves no client without credentials");
  } else if (with_credentials_) {
    report.warn("access",
                name + " serves clients without credentials: whatever the ACLs, each of them can end any lock",
                "keep others from the port, or set enforce.auth.enabled=true and enforce.auth.schemes=sasl there");
  } else {
    report.ok("access", name + " serves every client that reaches its port");
  }
}

void DoctorWall::examine_certificates(const ServerAddress& server, const std::string& name,
                                      const zookeeper::ProbeTls& tls, DoctorReport& report) const {
  const auto deadline = std::chrono::steady_clock::now() + wall_patience;
  const auto open =
      zookeeper::serves_without_credentials(server.host, server.port, wall_patience, {nameless_.get(), tls.name});
  // One that is silent may have too much to do: it has refused nothing.
  if (!open && std::chrono::steady_clock::now() >= deadline) return;
  if (!open) {
    report.ok("access", name + " serves no client without a certificate");
  } else if (!*open) {
    report.ok("access", name + " serves no client without credentials");
  } else {
    report.warn("access",
                name + " serves clients without a certificate: whatever the ACLs, each of them can end any lock",
                "remove ssl.clientAuth there, or set it to need");
  }
}

void DoctorWall::examine_other_port(const ServerAddress& server, const std::string& name,
                                    const zookeeper::ProbeTls& tls, DoctorReport& report) {
  const auto conf = zookeeper::four_letter_word(server.host, server.port, "conf", wall_patience, tls);
  const auto port = config::parse_number(conf ? value_in(*conf, "clientPort") : "");
  if (!port || *port <= 0 || *port > last_port || *port == server.port) return;
  const std::string text = name + "'s port without TLS, " + std::to_string(*port) + ", ";
  const auto open =
      zookeeper::serves_without_credentials(server.host, static_cast<std::uint16_t>(*port), wall_patience);
  if (!open) {
    report.ok("access", text + "cannot be used from here");
  } else if (!*open) {
    report.ok("access", text + "serves no client without credentials");
  } else {
    report.warn("access", text + "serves every client that reaches it: whatever the ACLs, each can end any lock",
                "remove clientPort there, or let no other machine reach it");
  }
}

}  // namespace forelock::cli
