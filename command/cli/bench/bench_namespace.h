// The place in ZooKeeper where `forelock bench` works: empty before, and after.
#pragma once

#include <cstddef>
#include <string>

#include "forelock/client.h"

namespace forelock::cli {

// A chroot that is not empty is refused: benchmarks belong where no application's locks are. Not thread-safe.
class BenchNamespace {
 public:
  // Looks from outside of the chroot, so that a missing one is not created by looking. \throws FailureException
  // (namespace_not_empty), Error without a connection.
  BenchNamespace(const Settings& settings, LogSink log);

  // A unique name that clean_up() removes.
  std::string monitor(const std::string& what);

  // Removes the monitors, whatever is left in them. \throws Error without a connection, or if something cannot be
  // removed.
  void clean_up();
  // That, and the nodes of the chroot that were missing in the beginning.
  void leave();

  // "host:port,host:port/chroot".
  static std::string connect_string(const Settings& settings, const std::string& chroot);

 private:
  // What a benchmark that was killed has left.
  void remove_abandoned();
  void refuse_if_used();
  void remember_missing();

  const Settings settings_;  // without the chroot
  const std::string chroot_;
  const std::string prefix_;
  std::string first_missing_;  // of the chroot's nodes
  std::size_t names_ = 0;
  Client outside_;
};

}  // namespace forelock::cli
