// Forelock's lock for run_threads.
#pragma once

#include "forelock/client.h"
#include "workload/thread_load.h"

namespace forelock::workload {

// The locks of a job, of its class and with its way to release. The client must outlive them.
LockMaker locks_of(Client& client, const Job& job);

}  // namespace forelock::workload
