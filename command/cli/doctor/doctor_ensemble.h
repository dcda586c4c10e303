// The proof that the servers of a list are one ensemble, and how many of them may be lost.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/doctor/doctor_report.h"
#include "forelock/settings.h"
#include "zookeeper/connect_string.h"
#include "zookeeper/tls_context.h"

namespace forelock::cli {

// What the servers say of themselves. A name with several addresses is as many servers.
struct ServerTally {
  std::size_t listed = 0;
  std::size_t reachable = 0;  // take connections
  std::size_t serving = 0;    // of these, as far as they say
  std::size_t asked = 0;      // say what they are
  std::size_t leaders = 0;
  std::size_t observers = 0;
  std::size_t standalone = 0;
};

// An address through which a session is to be had.
struct ServingAddress {
  zookeeper::ServerName address;
  std::string host;  // by which it was found
  std::string name;  // for people
};

// What came of writing through one server and reading through the others.
struct EnsembleProof {
  bool all_see = false;               // each of them sees what was written
  std::optional<std::size_t> voters;  // of the ensemble, by its own configuration
};

// Writes an ephemeral node through the first server that gives a session, into a namespace that exists, and looks for
// it through each of the others. Reports what stands against locks. Nothing: it has reported a failure, or no server
// gave a session.
// `tls`: nullptr where it is not used.
std::optional<EnsembleProof> prove_one_ensemble(const Settings& settings,
                                                const std::shared_ptr<const zookeeper::TlsContext>& tls,
                                                const std::vector<ServingAddress>& addresses, DoctorScope scope,
                                                DoctorReport& report);

// The servers together.
void judge_servers(const ServerTally& tally, const EnsembleProof& proof, DoctorReport& report);

// The addresses that are counted as servers, of a name that may stand for the same ones in two families: those of the
// family of which more take connections, of which there are more, which comes first.
std::vector<std::string> counted_addresses(const std::vector<std::string>& all,
                                           const std::vector<std::string>& connected);

// How many servers vote, by the data of /zookeeper/config; nothing: it does not tell (no ensemble, or before 3.5).
std::optional<std::size_t> voters_in(std::string_view configuration);

}  // namespace forelock::cli
