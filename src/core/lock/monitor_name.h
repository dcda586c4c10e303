// The monitor object's id as the name of its znode, and back.
//
// Most ids equal their name. Characters that ZooKeeper refuses in a name, and '%', are written as %XX, one for each
// byte of its UTF-8, uppercase: U+0000 to U+001F, '/', U+007F to U+009F, U+D800 to U+F8FF (surrogates and private use),
// U+FFF0 to U+FFFF, and every code point above U+FFFF, which a Java server sees as surrogates. Whole ids with a special
// meaning are escaped: "." is "%2E", ".." is "%2E%2E", and "zookeeper", the server's own node, is "%7Aookeeper".
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace forelock::lock {

inline constexpr std::size_t max_monitor_name_bytes = 255;

// Nodes of this library beside the monitors begin so; no encoded name does, since 'f' is no digit of the escape.
inline constexpr std::string_view reserved_start = "%forelock-";

struct EncodedName {
  std::optional<std::string> name;  // nothing if the id cannot be a monitor's
  std::string problem;              // then: why not, for people, e.g. "is empty"

  explicit operator bool() const { return name.has_value(); }
};

// Ids are any UTF-8, 1 to 255 bytes after encoding. Different ids have different names.
EncodedName encode_monitor_name(std::string_view id);

// The id whose name this is: decode(encode(id)) == id for every id. A name that encode never gives, so one that a
// third-party client chose, stands for itself ("50%" is "50%", although that id's own name is "50%25"): a caller that
// needs the node of such a monitor must keep its name.
std::string decode_monitor_name(std::string_view name);

}  // namespace forelock::lock
