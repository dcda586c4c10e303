// Recovers letters from a file that SQLite can no longer read as a whole.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "outbox/letter_table.h"
#include "outbox/outbox.h"

namespace forelock::outbox {

// A row of the table, whole: its checksum is right.
struct SavedRow {
  std::int64_t sequence = 0;
  RowState state = RowState::queued;
  std::uint32_t tries = 0;
  NewRow letter;
};

struct SalvageReport {
  std::uint64_t unreadable = 0;  // what looked like a row and was not whole
};

// Looks for rows in every page of the file, whatever the state of the pages that should lead there
// (https://www.sqlite.org/fileformat2.html). The file must not be written meanwhile. Reads it page by page: memory is
// bounded by one letter. \throws std::system_error.
SalvageReport salvage(const std::filesystem::path& path, const std::function<void(const SavedRow&)>& visitor);

}  // namespace forelock::outbox
