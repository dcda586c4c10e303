// A server that the others have left, and that does not know it yet: who learns first that a lock is gone?
#pragma once

#include "robustness/runner/client_process.h"
#include "robustness/runner/cluster.h"
#include "robustness/runner/recorded_resource.h"
#include "robustness/runner/strike.h"

namespace forelock::robustness {

// The faults that need a pair of clients (workers of kind "stall" on a monitor of their own), with the holder on the
// one side and the waiter on the other. They take their time: each ends before it returns. Used by one thread.
class Depositions {
 public:
  struct Pair {
    std::string monitor;
    std::vector<ClientProcess*> clients;
  };

  // All must outlive it.
  Depositions(Cluster& cluster, const RecordedResource& resource, HistoryWriter& history, Pair pair);

  // The followers' connections with the leader are reset, and they elect another one; the leader hears nothing, and
  // goes on answering until its time is up.
  void depose_leader(Strike& strike);
  // Neither side hears anything, for longer than either waits.
  void silence_leader(Strike& strike);
  // The leader's connection with a follower is reset. The follower hears nothing, and goes on answering.
  void forget_follower(Strike& strike);

 private:
  using Visit = RecordedResource::Visit;
  struct Cast {
    Visit visit;
    ClientProcess* holder = nullptr;
    ClientProcess* waiter = nullptr;
  };

  template <typename Break>
  void play(Strike& strike, std::size_t server, Break&& break_links);
  std::optional<Cast> find_cast() const;
  // Whether the holder has its session at this server, the waiter at another one, and all is as it was.
  bool place(const Strike& strike, std::size_t server, const Cast& cast) const;
  bool holds(const Visit& visit) const;
  void let_pass(Strike& strike, const Cast& cast) const;

  Cluster& cluster_;
  const RecordedResource& resource_;
  HistoryWriter& history_;
  const Pair pair_;
};

}  // namespace forelock::robustness
