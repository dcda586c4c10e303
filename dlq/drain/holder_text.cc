#include "drain/holder_text.h"

#include <chrono>
#include <exception>

#include "forelock/inspector.h"

namespace forelock::drain {

std::string holder_text(Client& client, const std::string& monitor) {
  try {
    const auto view = Inspector(client, std::chrono::seconds(1)).show(monitor);
    if (!view || !view->holder) return "it is not held any more";
    const HolderView& holder = *view->holder;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(holder.held).count();
    const std::string since = " since " + std::to_string(seconds) + " s";
    if (!holder.owner) return "held by a client without an owner record" + since;
    return "held by " + holder.owner->instance + " for \"" + holder.owner->lock_info + "\"" + since;
  } catch (const std::exception& problem) {
    return std::string("who holds it is not known: ") + problem.what();
  }
}

}  // namespace forelock::drain
