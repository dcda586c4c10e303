// The role of a librdkafka client.
#pragma once

namespace forelock::kafka {

enum class Role { producer, consumer };

}  // namespace forelock::kafka
