// An access control list in the C client's form.
#pragma once

#include <zookeeper/zookeeper.h>

#include <cstddef>
#include <vector>

#include "zookeeper/session_options.h"

namespace forelock::zookeeper {

// Owns what the C structure points to. Immutable after construction, thus thread-safe.
class AclVector {
 public:
  explicit AclVector(AclPolicy policy);
  AclVector(const AclVector&) = delete;
  AclVector& operator=(const AclVector&) = delete;

  const ACL_vector* get() const { return &vector_; }
  std::size_t wire_bytes() const;

 private:
  AclPolicy policy_;
  std::vector<ACL> entries_;
  ACL_vector vector_{};
};

}  // namespace forelock::zookeeper
