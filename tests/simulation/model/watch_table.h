// The one-shot watches that one server keeps for its connections.
#pragma once

#include "model/connection.h"

namespace forelock::model {

class WatchTable {
 public:
  void add_data(std::string_view path, Connection& connection) { add(data_, path, connection); }
  void add_children(std::string_view path, Connection& connection) { add(children_, path, connection); }
  void remove_data(std::string_view path, const Connection& connection);
  void forget(const Connection& connection);

  // Take the watchers of a path out of the table.
  std::vector<Connection*> take_data(std::string_view path) { return take(data_, path); }
  std::vector<Connection*> take_children(std::string_view path) { return take(children_, path); }

 private:
  struct Entry {
    std::string path;
    Connection* connection;
  };
  static void add(std::vector<Entry>& entries, std::string_view path, Connection& connection);
  static std::vector<Connection*> take(std::vector<Entry>& entries, std::string_view path);

  std::vector<Entry> data_;
  std::vector<Entry> children_;
};

}  // namespace forelock::model
