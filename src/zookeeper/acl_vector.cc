#include "zookeeper/acl_vector.h"

#include <cstring>
#include <utility>

namespace forelock::zookeeper {

AclVector::AclVector(AclPolicy policy) : policy_(std::move(policy)) {
  switch (policy_.kind) {
    case AclPolicy::Kind::open:
      vector_ = ZOO_OPEN_ACL_UNSAFE;
      return;
    case AclPolicy::Kind::creator_all:
      vector_ = ZOO_CREATOR_ALL_ACL;
      return;
    case AclPolicy::Kind::list:
      break;
  }
  entries_.reserve(policy_.entries.size());
  for (AclEntry& entry : policy_.entries) {
    entries_.push_back({entry.permissions, {entry.scheme.data(), entry.id.data()}});
  }
  vector_ = {static_cast<std::int32_t>(entries_.size()), entries_.data()};
}

std::size_t AclVector::wire_bytes() const {
  std::size_t bytes = 4;
  for (std::int32_t i = 0; i < vector_.count; ++i) {
    bytes += 12 + std::strlen(vector_.data[i].id.scheme) + std::strlen(vector_.data[i].id.id);
  }
  return bytes;
}

}  // namespace forelock::zookeeper
