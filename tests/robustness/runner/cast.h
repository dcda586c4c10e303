// The processes that take part in a run.
#pragma once

#include "robustness/runner/client_process.h"

namespace forelock::robustness {

// How clients are started. All paths are absolute.
struct CastOptions {
  std::uint64_t seed = 1;
  std::string chroot;
  std::string mutation;  // a deliberate bug of the library's clients; empty: none
  std::filesystem::path directory;
  std::filesystem::path resource;
  std::vector<std::uint16_t> server_ports;
  std::vector<std::string> letter_settings;  // of those that dead-letter, as KEY=VALUE
  std::vector<std::string> security;         // of all, as KEY=VALUE: TLS and SASL; empty without them
};

// What certificates of the servers must name.
std::string server_names();

// The monitors that clients of ours share, and that an administrator may touch.
std::vector<std::string> shared_monitors();
// Of those that mostly one client uses, and others now and then: those that an administrator may touch, too.
std::vector<std::string> visited_monitors();

// Whether the clients of a run with this seed include two unlockers, and holders that ask to be unlocked: in every
// third.
bool has_unlockers(std::uint64_t seed);

// Clients of every kind, not started yet. The one whose clock can be set is left out where libfaketime is missing.
std::vector<std::unique_ptr<ClientProcess>> make_clients(const CastOptions& options, ClientProcess::Place place);

// Two that hold `monitor` in turn, for `hold` if nothing happens to them.
std::vector<std::unique_ptr<ClientProcess>> make_stall_pair(const CastOptions& options, ClientProcess::Place place,
                                                            const std::string& monitor, int session_timeout_ms,
                                                            std::chrono::milliseconds hold);

}  // namespace forelock::robustness
