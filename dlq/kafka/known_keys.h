// The settings that librdkafka knows, from its own table.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "kafka/role.h"

namespace forelock::kafka {

class KnownKeys {
 public:
  // Read from the library once. Thread-safe.
  static const KnownKeys& get();

  bool knows(std::string_view key) const { return keys_.contains(key); }
  // Whether it means something to a client of this kind. True for a key that is not in the table.
  bool concerns(std::string_view key, Role role) const;
  // The key that this one is another name of; otherwise the key itself.
  std::string_view canonical(std::string_view key) const;
  // The most similar one; empty if none is similar.
  std::string_view nearest(std::string_view key) const;

 private:
  struct Key {
    bool producer = false;
    bool consumer = false;
    std::string canonical;
  };

  KnownKeys();
  void add_row(std::string_view row);

  std::map<std::string, Key, std::less<>> keys_;
};

}  // namespace forelock::kafka
