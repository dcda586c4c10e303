// The wall around the servers: who is kept from them. Credentials and ACLs do not protect a session from one who can
// reach a port, since its password follows from its id.
#pragma once

#include <memory>
#include <string>

#include "cli/doctor/doctor_report.h"
#include "forelock/server_address.h"
#include "forelock/settings.h"
#include "zookeeper/probe.h"

namespace forelock::cli {

class DoctorWall {
 public:
  explicit DoctorWall(const Settings& settings);

  // Tries what the server does for one who has shown nothing: at this port, without a certificate if it is one for TLS,
  // and then at its port without TLS as well. `tls`: as this client speaks to it.
  void examine(const ServerAddress& server, const std::string& name, const zookeeper::ProbeTls& tls,
               DoctorReport& report) const;

 private:
  void examine_plain(const ServerAddress& server, const std::string& name, DoctorReport& report) const;
  void examine_certificates(const ServerAddress& server, const std::string& name, const zookeeper::ProbeTls& tls,
                            DoctorReport& report) const;
  static void examine_other_port(const ServerAddress& server, const std::string& name, const zookeeper::ProbeTls& tls,
                                 DoctorReport& report);

  const bool with_credentials_;
  const std::shared_ptr<const zookeeper::TlsContext> nameless_;  // nullptr: without TLS
};

}  // namespace forelock::cli
