// Any bytes as an owner record: refused, or read into something that can be written and read again without a change.
#include "forelock/owner_record.h"
#include "check.h"
#include "records/holder_json.h"

namespace {

using forelock::OwnerRecord;
using forelock::fuzz::demand;

OwnerRecord written_and_read(const OwnerRecord& record) {
  const std::string json = record.to_json();
  demand(json.size() <= OwnerRecord::max_record_bytes, "a record is at most 8 KiB");
  demand(json.find('\n') == std::string::npos, "a record is one line");
  const auto read = OwnerRecord::from_json(json);
  demand(read.has_value(), "what was written can be read");
  return *read;
}

// The short way from a waiting contender's record to the holder's gives the same bytes as the long one.
void check_holder(OwnerRecord record) {
  record.acquired_at.reset();
  record.alert_at.reset();
  record.auto_unlock_at.reset();
  const std::string waiting = record.to_json();
  record.acquired_at = record.enqueued_at;
  record.auto_unlock_at = record.enqueued_at + std::chrono::milliseconds(1);
  const std::string holding = forelock::records::holder_json(waiting, {*record.acquired_at, {}, record.auto_unlock_at});
  demand(holding == record.to_json(), "the holder's record is the same by both ways");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto record = OwnerRecord::from_json(text);
  if (!record) return 0;
  const OwnerRecord kept = written_and_read(*record);  // what is too long has been shortened
  demand(written_and_read(kept) == kept, "a record that was written before does not change");
  check_holder(kept);
  return 0;
}
