#include "client/record_text.h"

#include <utility>

namespace forelock::client {

lock::RecordText text_of(std::shared_ptr<const records::ContenderRecord> record) {
  return [record = std::move(record)](lock::RecordUse use, const std::string& guid) {
    switch (use) {
      case lock::RecordUse::waiting:
        return record->waiting(guid);
      case lock::RecordUse::moved:
        return record->moved(guid);
      case lock::RecordUse::claiming:
        return record->claiming(guid);
      case lock::RecordUse::holding:
        break;
    }
    return record->holding(guid);
  };
}

}  // namespace forelock::client
