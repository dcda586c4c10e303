// The texts of a contender's record, which the engine requests when it writes one.
#pragma once

#include <memory>

#include "lock/engine_types.h"
#include "records/contender_record.h"

namespace forelock::client {

lock::RecordText text_of(std::shared_ptr<const records::ContenderRecord> record);

}  // namespace forelock::client
