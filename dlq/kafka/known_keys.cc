#include "kafka/known_keys.h"

#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <stdlib.h>

#include <algorithm>
#include <cstddef>

#include "config/edit_distance.h"

namespace forelock::kafka {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

std::string printed_table() {
  char* text = nullptr;
  std::size_t size = 0;
  FILE* const stream = ::open_memstream(&text, &size);
  if (stream == nullptr) return {};
  rd_kafka_conf_properties_show(stream);
  ::fclose(stream);
  std::string table(text, size);
  ::free(text);
  return table;
}

}  // namespace

const KnownKeys& KnownKeys::get() {
  static const KnownKeys keys;
  return keys;
}

KnownKeys::KnownKeys() {
  const std::string table = printed_table();
  for (std::size_t begin = 0; begin < table.size();) {
    const std::size_t end = std::min(table.find('\n', begin), table.size());
    add_row(std::string_view(table).substr(begin, end - begin));
    begin = end + 1;
  }
}

// "key | C/P | range | default | importance | description"; a key may have a row for the client and one for topics.
void KnownKeys::add_row(std::string_view row) {
  const std::size_t first = row.find('|');
  const std::size_t second = row.find('|', first == std::string_view::npos ? first : first + 1);
  if (second == std::string_view::npos) return;
  const std::string_view name = trimmed(row.substr(0, first));
  const std::string_view scope = trimmed(row.substr(first + 1, second - first - 1));
  if (scope != "*" && scope != "C" && scope != "P") return;
  Key& key = keys_[std::string(name)];
  key.producer |= scope != "C";
  key.consumer |= scope != "P";
  constexpr std::string_view alias = "Alias for `";
  const std::size_t target = row.find(alias);
  if (target == std::string_view::npos) return;
  const std::string_view rest = row.substr(target + alias.size());
  key.canonical = rest.substr(0, rest.find('`'));
}

bool KnownKeys::concerns(std::string_view key, Role role) const {
  const auto found = keys_.find(key);
  if (found == keys_.end()) return true;
  return role == Role::producer ? found->second.producer : found->second.consumer;
}

std::string_view KnownKeys::canonical(std::string_view key) const {
  const auto found = keys_.find(key);
  return found == keys_.end() || found->second.canonical.empty() ? key : std::string_view(found->second.canonical);
}

std::string_view KnownKeys::nearest(std::string_view key) const {
  std::string_view nearest;
  std::size_t least = std::max<std::size_t>(2, key.size() / 4) + 1;  // what is farther away was not meant
  for (const auto& [known, unused] : keys_) {
    const std::size_t distance = config::edit_distance(key, known);
    if (distance >= least) continue;
    least = distance;
    nearest = known;
  }
  return nearest;
}

}  // namespace forelock::kafka
