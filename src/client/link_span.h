// A LinkSpan is the ensembles in which the members of a lock set live, as one.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "client/ensemble_link.h"

namespace forelock::client {

class ClientCore;

// Immutable; the links outlive it. Its methods are those of EnsembleLink: what is least certain counts.
class LinkSpan {
 public:
  // \param node_names of the members; at least one.
  LinkSpan(const ClientCore& core, const std::vector<std::string>& node_names);

  std::size_t size() const { return links_.size(); }
  // The ensemble of the first member.
  EnsembleLink& first() const { return *links_.front(); }
  // Whether the member is the first one that lives in its ensemble: it stands for that one's session.
  bool is_first_of_its_ensemble(std::size_t member) const;

  std::int64_t valid_until() const;
  std::int64_t suspect_from() const;
  bool connected() const;
  // The longest one.
  std::chrono::milliseconds session_timeout() const;
  bool in_forked_child() const { return first().in_forked_child(); }
  void tick() const;
  // "zk1:2181, zk4:2181".
  std::string names() const;

 private:
  std::vector<EnsembleLink*> links_;        // each once
  std::vector<std::size_t> first_members_;  // of these
};

}  // namespace forelock::client
