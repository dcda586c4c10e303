#include "drain/letter_store.h"

namespace forelock::drain {

std::string_view name_of(Resolution resolution) {
  switch (resolution) {
    case Resolution::replayed:
      return "replayed";
    case Resolution::parked:
      return "parked";
    case Resolution::purged:
      return "purged";
  }
  return "unknown";
}

}  // namespace forelock::drain
