// The one table of all settings: reading, checking, `forelock config` and docs/configuration.md follow it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "config/option.h"
#include "forelock/priority.h"

namespace forelock::config {

inline constexpr std::string_view kafka_prefix = "kafka.";

// In the order of OptionId.
std::span<const Option> options();
const Option& option(OptionId id);

// The settings of one priority: how its contenders' names begin, and how long its locks are waited for.
OptionId prefix_option(Priority priority);
OptionId timeout_option(Priority priority);

// By its key or other spelling; null when there is none.
const Option* find_option(std::string_view key);

// Whether the key, known or not, belongs to Forelock and not to the application whose file this is.
bool is_own_key(std::string_view key);

// Whether a key can begin with `path` and a dot, and be ours.
bool may_lead_to_own_key(std::string_view path);

// Whether a key that is not ours differs from one of ours, or in its first word from "zookeeper", by one or two
// letters.
bool looks_like_own_key(std::string_view key);

// The spelling of a known key that is meant by, or nearest to, a misspelt one; empty when none is near.
std::string_view nearest_key(std::string_view key);

// What a value of the option can be, such as "1 to 2147483647 ms".
std::string range_of(const Option& option);

// The table of docs/configuration.md.
std::string markdown_table();

}  // namespace forelock::config
