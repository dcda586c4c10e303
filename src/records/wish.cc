#include "records/wish.h"

#include <nlohmann/json.hpp>

#include "records/record_reader.h"

namespace forelock::records {

std::optional<std::string> with_wish(std::string_view json, Priority wish) {
  if (!read_record(json)) return std::nullopt;  // which bounds its size and depth, too
  auto record = nlohmann::ordered_json::parse(json);
  record["wish"] = std::string(name_of(wish));
  return record.dump();
}

}  // namespace forelock::records
