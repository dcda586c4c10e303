#include "forward/letter_record.h"

#include <utility>

#include "letter/letter_headers.h"
#include "letter/letter_json.h"
#include "letter/letter_scan.h"

namespace forelock::forward {

kafka::Record record_of(const outbox::Row& row, const std::string& topic) {
  kafka::Record record;
  record.topic = topic;
  record.key = row.monitor;
  // The outbox has looked at the row's checksum.
  std::optional<DeadLetter> letter = letter::scan_json(row.record);
  if (!letter) letter = letter::from_json(row.record);
  for (letter::Header& header : letter::headers_of(*letter)) {
    record.headers.emplace_back(std::move(header.name), std::move(header.value));
  }
  record.value = row.record;
  return record;
}

}  // namespace forelock::forward
