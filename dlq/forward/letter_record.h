// A row of the outbox as the record that goes into the dead-letter topic.
#pragma once

#include <string>

#include "kafka/record.h"
#include "outbox/outbox.h"

namespace forelock::forward {

// Key: the monitor's id. Value: the row's JSON as it is. \throws Error (record_invalid, record_too_new) if that is no
// dead letter, so that its headers cannot be told.
kafka::Record record_of(const outbox::Row& row, const std::string& topic);

}  // namespace forelock::forward
