// The texts of a contender's record, for the engine, which asks for them when it writes one.
#pragma once

#include <memory>

#include "lock/engine_types.h"
#include "records/contender_record.h"

namespace forelock::client {

lock::RecordText text_of(std::shared_ptr<const records::ContenderRecord> record);

}  // namespace forelock::client
