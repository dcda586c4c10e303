// What a client of librdkafka is made for.
#pragma once

namespace forelock::kafka {

enum class Role { producer, consumer };

}  // namespace forelock::kafka
