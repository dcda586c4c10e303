// The client of a worker, which is closed now and then under those who use it, and replaced.
#pragma once

#include "forelock/client.h"
#include "robustness/history/history_writer.h"
#include "robustness/worker/visit_gate.h"

namespace forelock::robustness {

// A client, and the gate for visits of the resource under its locks.
struct GatedClient : Client {
  using Client::Client;
  VisitGate gate;
};

// Thread-safe.
class ClientSource {
 public:
  ClientSource(const Settings& settings, HistoryWriter& history, std::uint64_t seed);

  // The present one. Whoever has it keeps it alive, closed or not: locks must not outlive it.
  std::shared_ptr<GatedClient> get() const;
  void replace();
  // The same again and again, some seconds apart, until it is stopped: for a thread of its own, since closing may
  // block.
  void replace_now_and_then(const std::stop_token& stop);
  // Waits until the client has nothing left to remove; writes "quiet" then, or when it has taken too long.
  void settle(std::chrono::milliseconds patience);
  void close() { get()->close(); }

 private:
  std::shared_ptr<GatedClient> make() const;

  const Settings settings_;
  HistoryWriter& history_;
  const std::uint64_t seed_;
  mutable std::mutex mutex_;
  std::shared_ptr<GatedClient> client_;
};

}  // namespace forelock::robustness
