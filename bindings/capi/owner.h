// Owner records as the C interface shows them.
#pragma once

#include <optional>
#include <string>

#include "forelock/c.h"
#include "forelock/owner_record.h"

namespace forelock::capi {

// A record, and the texts that are not texts in it.
class OwnerText {
 public:
  OwnerText() = default;
  // Without a record: empty texts and -1.
  explicit OwnerText(std::optional<OwnerRecord> record);

  bool present() const { return record_.has_value(); }
  const std::optional<OwnerRecord>& record() const { return record_; }
  // Valid as long as this object is not changed.
  fl_owner to_c() const;
  // What fl_owner, which does not grow, has no place for. -1: the record does not say.
  int64_t linger_ms() const;

 private:
  std::optional<OwnerRecord> record_;
  std::string stack_;
};

int32_t to_c(Priority priority);

}  // namespace forelock::capi
