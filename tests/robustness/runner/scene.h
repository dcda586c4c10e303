// Everything that faults are done to, and with.
#pragma once

#include "robustness/history/history_writer.h"
#include "robustness/runner/administrator.h"
#include "robustness/runner/client_process.h"
#include "robustness/runner/cluster.h"
#include "robustness/runner/depositions.h"
#include "robustness/runner/excuses.h"
#include "robustness/runner/letter_office.h"
#include "robustness/runner/recorded_resource.h"
#include "robustness/runner/strike.h"

namespace forelock::robustness {

struct Scene {
  HistoryWriter& history;
  Excuses& excuses;
  Cluster& cluster;
  Administrator& administrator;
  const RecordedResource& resource;
  std::vector<std::unique_ptr<ClientProcess>> clients;  // those that faults may hit
  std::vector<std::string> monitors;                    // those that an administrator may touch
  std::string chroot;                                   // that of all monitors
  std::set<std::string> spared;                         // slots of clients that are never killed
  std::vector<std::string> sweep;                       // the command that does it
  std::filesystem::path sweep_log;
  Depositions::Pair divided;  // what parts the servers puts one on each side

  // One of those that run and fulfil the condition, preferably one that holds a lock; null if there is none.
  ClientProcess* any_client(Strike& strike, const std::function<bool(const ClientProcess&)>& condition = {}) const;
};

// The scene must outlive the kinds. What a machine does not permit is left out and written down as skipped.
std::vector<FaultKind> network_faults(Scene& scene);
std::vector<FaultKind> client_faults(Scene& scene);
std::vector<FaultKind> administrator_faults(Scene& scene);
std::vector<FaultKind> server_faults(Scene& scene);
std::vector<FaultKind> letter_faults(LetterOffice& office);

}  // namespace forelock::robustness
