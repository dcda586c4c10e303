#include "drain/outbox_store.h"

#include <array>
#include <charconv>
#include <system_error>
#include <utility>
#include <variant>

#include "drain/read_letter.h"
#include "forelock/error.h"

namespace forelock::drain {
namespace {

constexpr std::size_t batch_rows = 512;
constexpr std::size_t batch_bytes = 4 * 1024 * 1024;

// \param letter a StoredLetter or an UnreadableLetter.
template <class Letter>
outbox::RowRef row_of(const Letter& letter) {
  const std::string& position = letter.position;
  std::int64_t sequence = 0;
  const auto end = position.data() + position.size();
  const auto parsed = std::from_chars(position.data(), end, sequence);
  if (parsed.ec != std::errc() || parsed.ptr != end) {
    throw RequestRejectedException(ErrorCode::invalid_argument, "", "'" + position + "' is not a row of an outbox",
                                   "Positions of an outbox are numbers, as 'forelock dlq list' shows them.");
  }
  return {sequence, letter.checksum};
}

LetterState state_of(outbox::RowState state) {
  return state == outbox::RowState::parked ? LetterState::parked : LetterState::queued;
}

LetterOrNot read_row(outbox::Row row) {
  LetterOrNot read = read_letter(std::to_string(row.sequence), row.monitor, std::move(row.record));
  if (auto* letter = std::get_if<StoredLetter>(&read)) {
    letter->state = state_of(row.state);
    letter->tries = row.tries;
  }
  std::visit([&row](auto& letter) { letter.checksum = row.checksum; }, read);
  return read;
}

}  // namespace

OutboxStore::OutboxStore(std::unique_ptr<outbox::Outbox> outbox, std::string monitor)
    : outbox_(std::move(outbox)), monitor_(std::move(monitor)) {}

std::string OutboxStore::describe() const {
  return "outbox " + outbox_->path().string();
}

void OutboxStore::scan(const LetterFilter& filter, LetterVisitor& visitor) {
  // Letters that come while the scan goes on stand behind: as many rows as there are now, and no more, even if others
  // add faster than the visitor looks.
  std::uint64_t left = outbox_->depth().rows;
  std::int64_t after = 0;
  while (left > 0) {
    std::vector<outbox::Row> rows = outbox_->read(after, batch_rows, batch_bytes);
    if (rows.empty()) return;
    for (outbox::Row& row : rows) {
      if (left-- == 0) return;
      after = row.sequence;
      if ((row.state == outbox::RowState::parked) != filter.parked) continue;
      if (!visit_letter(read_row(std::move(row)), filter, visitor)) return;
    }
  }
}

std::optional<StoredLetter> OutboxStore::find(const std::string& id) {
  auto row = outbox_->find(id);
  if (!row) return std::nullopt;
  LetterOrNot read = read_row(std::move(*row));
  if (auto* letter = std::get_if<StoredLetter>(&read)) return std::move(*letter);
  return std::nullopt;
}

std::uint32_t OutboxStore::begin_try(const StoredLetter& letter) {
  check_drainer();
  return outbox_->count_try(row_of(letter));
}

void OutboxStore::take_back_try(const StoredLetter& letter) {
  check_drainer();
  outbox_->take_back_try(row_of(letter));
}

void OutboxStore::resolve(const StoredLetter& letter, Resolution resolution) {
  resolve(row_of(letter), resolution);
}

void OutboxStore::resolve(const UnreadableLetter& letter, Resolution resolution) {
  resolve(row_of(letter), resolution);
}

bool OutboxStore::restore(const StoredLetter& letter) {
  const auto row = outbox_->find(letter.letter);
  check_drainer();
  if (!row) {
    outbox_->add(letter.letter);
  } else if (row->state == outbox::RowState::parked) {
    outbox_->set_state(row->ref(), outbox::RowState::queued);
  } else {
    return false;
  }
  return true;
}

std::uint64_t OutboxStore::delete_resolved() {
  outbox_->clear_journal();
  return 0;
}

void OutboxStore::resolve(const outbox::RowRef& row, Resolution resolution) {
  if (resolution != Resolution::replayed) check_drainer();
  if (resolution == Resolution::parked) return outbox_->set_state(row, outbox::RowState::parked);
  outbox_->remove(std::array{row});
}

}  // namespace forelock::drain
