#include "model/watch_table.h"

namespace forelock::model {

void WatchTable::add(std::vector<Entry>& entries, std::string_view path, Connection& connection) {
  for (const Entry& entry : entries) {
    if (entry.connection == &connection && entry.path == path) return;
  }
  entries.push_back({std::string(path), &connection});
}

std::vector<Connection*> WatchTable::take(std::vector<Entry>& entries, std::string_view path) {
  std::vector<Connection*> taken;
  std::erase_if(entries, [&](const Entry& entry) {
    if (entry.path != path) return false;
    taken.push_back(entry.connection);
    return true;
  });
  return taken;
}

void WatchTable::remove_data(std::string_view path, const Connection& connection) {
  std::erase_if(data_, [&](const Entry& e) { return e.connection == &connection && e.path == path; });
}

void WatchTable::forget(const Connection& connection) {
  std::erase_if(data_, [&](const Entry& e) { return e.connection == &connection; });
  std::erase_if(children_, [&](const Entry& e) { return e.connection == &connection; });
}

}  // namespace forelock::model
