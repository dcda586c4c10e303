// Any bytes as a monitor's id, and as the name of a node: what is taken comes back as it was, and ZooKeeper can take
// it.
#include "lock/monitor_name.h"
#include "check.h"

namespace {

using forelock::fuzz::demand;
using forelock::lock::decode_monitor_name;
using forelock::lock::encode_monitor_name;

void check_id(std::string_view id) {
  const auto encoded = encode_monitor_name(id);
  if (!encoded) return demand(!encoded.problem.empty(), "a refused id has a reason");
  const std::string& name = *encoded.name;
  demand(!name.empty() && name.size() <= forelock::lock::max_monitor_name_bytes, "a name has 1 to 255 bytes");
  demand(name != "." && name != ".." && name != "zookeeper", "a name has no meaning of its own");
  demand(std::none_of(name.begin(), name.end(), [](char c) { return c == '/' || (c >= 0 && c < 0x20) || c == 0x7f; }),
         "a name has neither slashes nor control characters");
  demand(decode_monitor_name(name) == id, "an id comes back");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  check_id(text);
  // As the name of a node that somebody else has made: it stands for an id, if for any, that has a name again.
  check_id(decode_monitor_name(text));
  return 0;
}
