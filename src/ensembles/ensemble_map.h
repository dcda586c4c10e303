// An EnsembleMap says which of several ensembles a monitor lives in: the same in every process and version.
//
// Rendezvous hashing (Thaler and Ravishankar, "Using name-based mappings to increase hit rates", 1998): the ensemble
// with the highest score for the monitor has it. So every ensemble gets an equal part, and one that is added or taken
// away moves no other monitors than those that it gets or had.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "forelock/server_address.h"

namespace forelock::ensembles {

// FNV-1a with 64 bits (Fowler, Noll, Vo): offset basis 0xcbf29ce484222325, prime 0x100000001b3.
std::uint64_t fnv1a64(std::string_view bytes);
// The finalizer of MurmurHash3 with 64 bits (fmix64, Austin Appleby).
std::uint64_t mix64(std::uint64_t number);

// The servers as "host:port", each once, in lower case, sorted bytewise, with ',' between them, and the chroot behind:
// "zk1:2181,zk2:2181/forelock". As they are written in the settings: names are not resolved.
std::string identity_of(const std::vector<ServerAddress>& servers, std::string_view chroot);

// Immutable, thus thread-safe.
class EnsembleMap {
 public:
  // How monitors are distributed; part of the fingerprint.
  static constexpr std::string_view method = "rendezvous-fnv1a64-mix64";

  // At least one, all different, in any order.
  explicit EnsembleMap(std::vector<std::string> identities);

  std::size_t size() const { return identities_.size(); }
  // Sorted bytewise: an ensemble's number is its place here.
  const std::vector<std::string>& identities() const { return identities_; }
  // The number of the ensemble that has the monitor with this name (encoded: lock/monitor_name.h). Its score is
  // mix64(fnv1a64(identity) ^ mix64(fnv1a64(name))); of equal ones the first.
  std::size_t home_of(std::string_view name) const;
  // 16 hexadecimal digits: mix64(fnv1a64()) over the method and the identities, each with a line feed behind it.
  const std::string& fingerprint() const { return fingerprint_; }

 private:
  std::vector<std::string> identities_;
  std::vector<std::uint64_t> seeds_;
  std::string fingerprint_;
};

}  // namespace forelock::ensembles
