// Reads the nodes of one monitor as its holder and its queue. Pure: replies in, views out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coordination/reply.h"
#include "forelock/inspector.h"
#include "forelock/settings.h"

namespace forelock::client {

// A child of a monitor's node that is a contender.
struct ContenderNode {
  std::string name;
  coordination::Stat stat;
  std::optional<OwnerRecord> record;
};

// The class of a node's name; empty if it has neither configured prefix.
std::optional<Priority> priority_of(std::string_view node, const Settings& settings);

// The children that are contenders, in the order in which they are served.
std::vector<std::string> contender_names(const std::vector<std::string>& children);

// Whether a node with these children is a monitor of this namespace, and not another application's node.
bool has_lock_nodes(const std::vector<std::string>& children, const Settings& settings);
bool has_only_lock_nodes(const std::vector<std::string>& children, const Settings& settings);

// The nodes of one monitor, as far as they could be read.
struct MonitorReading {
  std::optional<coordination::Reply> private_lock;  // nothing where there is none
  std::vector<ContenderNode> contenders;            // in the order in which they are served
};

// The fencing token of the holder whose `privateLock` this is.
std::int64_t token_of(const coordination::Reply& private_lock, const std::optional<OwnerRecord>& owner);

// Fills in `holder` and `queue`. `now` is this machine's clock.
MonitorView view_of(std::string monitor, std::string path, const MonitorReading& reading, const Settings& settings,
                    WallTime now);

// The short form.
MonitorSummary summary_of(const MonitorView& view);

}  // namespace forelock::client
