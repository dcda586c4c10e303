// A second copy of the outbox, with an SQLite of its own, to be loaded into a process that has one already: as two
// class loaders of one Java process load a native library each.
#include <exception>
#include <string>

#include "outbox/outbox.h"
#include "sample_letter.h"

// Adds letters PREFIX0, PREFIX1, … \returns how many have been accepted.
extern "C" __attribute__((visibility("default"))) int outbox_copy_add(const char* path, const char* prefix, int count) {
  int accepted = 0;
  try {
    forelock::outbox::Outbox outbox({.path = path});
    for (int i = 0; i < count; ++i) {
      outbox.add(forelock::test::sample_letter(prefix + std::to_string(i)));
      ++accepted;
    }
  } catch (const std::exception&) {
    return accepted;
  }
  return accepted;
}
