// A NamespaceImage is what is known of a namespace: its monitors as they were read last. It tells what must be read of
// one that has been listed: nodes that are new, and the lock. A contender's record does not change while its node is
// there, but for an operator's wish.
//
// Pure: replies in, sightings out. Not synchronised.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "cli/serve/look/sighting.h"
#include "client/monitor_reading.h"
#include "forelock/settings.h"

namespace forelock::cli {

class NamespaceImage {
 public:
  explicit NamespaceImage(const Settings& settings) : settings_(settings) {}

  // One listing of a monitor, until all that it needs has been read.
  struct Reading {
    std::string name;  // of its node
    coordination::Reply listing;
    std::vector<std::string> wanted;         // children whose nodes are to be read, the lock among them
    std::vector<coordination::Reply> nodes;  // the same order
  };
  // `listing` has succeeded.
  Reading begin(std::string name, coordination::Reply listing) const;
  // Whether the holder may say that it goes on, which no listing shows: its lock is to be watched, too.
  static bool wants_watch(const coordination::Reply& private_lock);
  // Which of the nodes the credentials may not read; empty if they may read all. Such a reading is not to be ended.
  static std::string closed_node(const Reading& reading);
  // With `nodes`. \returns whether the monitor is not as it was known.
  bool end(Reading reading, WallTime now);
  // Nothing that is known saves a read any more: of servers that were set back the same numbers say something else.
  void read_all_anew();
  // There is no such node, or it may not be listed.
  void forget(const std::string& name);
  // All but these.
  void keep(const std::vector<std::string>& names);

  // What is new since the last call: ids of monitors, those that have gone too.
  std::set<std::string> take_changed();
  // Those that are monitors, the idle ones too: the same object as before if nothing has changed.
  std::shared_ptr<const Sightings> sightings();

  std::size_t size() const { return known_.size(); }

 private:
  struct Known {
    SharedSighting sighting;  // null: not a monitor
    std::int64_t created = 0;
    std::int32_t children_version = 0;
    std::int64_t last_child_change = 0;
  };
  using ByName = std::unordered_map<std::string, Known>;

  bool is_same(const Known& known, const coordination::Stat& stat) const;
  SharedTexts shared(RecordTexts texts);
  void forget(ByName::iterator known);

  const Settings settings_;
  ByName known_;
  std::unordered_map<std::size_t, std::weak_ptr<const RecordTexts>> texts_;
  std::size_t texts_to_clear_ = 1024;
  std::set<std::string> changed_;
  std::set<std::string> changed_since_;  // the last sightings()
  std::shared_ptr<const Sightings> sightings_ = std::make_shared<const Sightings>();
  std::unordered_map<std::string, SharedSighting> by_id_;  // of changed_since_, as they are now
};

}  // namespace forelock::cli
