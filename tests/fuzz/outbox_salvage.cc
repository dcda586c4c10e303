// Any bytes as a damaged outbox: no crash, no endless search, and only rows that can be.
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "outbox/letter_table.h"
#include "outbox/salvage.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using forelock::fuzz::demand;
  const int file = memfd_create("outbox", MFD_CLOEXEC);
  demand(file >= 0, "a file in memory");
  demand(write(file, data, size) == static_cast<ssize_t>(size), "room for it");
  const auto report = forelock::outbox::salvage("/proc/self/fd/" + std::to_string(file), [&](const auto& row) {
    demand(row.sequence >= 0, "a number that can be used");
    demand(row.tries <= 1'000'000, "a number of tries that can be");
    demand(row.letter.record.size() <= size, "no more than the file holds");
  });
  close(file);
  // Many cells may point to the same bytes, but their number is bounded by the room for pointers.
  const std::size_t pages = size / forelock::outbox::page_bytes;
  demand(report.unreadable <= pages * forelock::outbox::page_bytes / 2, "no more rows than cells");
  return 0;
}
