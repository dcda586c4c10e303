#include "outbox/outbox.h"

#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "letter/letter_json.h"
#include "outbox/group_commit.h"
#include "outbox/letter_table.h"
#include "outbox/shared_file.h"

namespace forelock::outbox {
namespace {

// How a stored letter relates to a new one with the same id.
enum class Kinship {
  same,     // given again, perhaps after more attempts
  earlier,  // the same operation before a replay, which has failed meanwhile
  other
};

Kinship kinship_of(const Row& known, const NewRow& given) {
  try {
    const DeadLetter one = letter::from_json(known.record);
    const DeadLetter other = letter::from_json(given.record);
    if (one.type != other.type || one.monitor != other.monitor || one.payload != other.payload) return Kinship::other;
    return one.replay_count < other.replay_count ? Kinship::earlier : Kinship::same;
  } catch (const Error&) {
    return Kinship::other;  // what cannot be read is not known to be the same
  }
}

}  // namespace

class Outbox::Impl {
 public:
  explicit Impl(const OutboxOptions& options) : max_bytes_(options.max_bytes), file_(options) {}

  ~Impl() {
    if (::getpid() != process_) file_.abandon();
  }

  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  // To be used by the process that made it alone.
  SharedFile& file() {
    if (::getpid() == process_) return file_;
    throw RequestRejectedException(ErrorCode::forked, {},
                                   "The outbox " + path().string() + " belongs to the parent process",
                                   "Open it anew in the child.");
  }

  const std::filesystem::path& path() const { return file_.path(); }

  void add(const DeadLetter& letter) {
    SharedFile& shared = file();
    const NewRow row{letter.id, letter.monitor, letter.failed_at, letter::to_json(letter)};
    WriteJob job{.work = [&](LetterTable& table) { insert(table, row); },
                 .is_done =
                     [&](LetterTable& table) {
                       const auto known = table.find(row.id);
                       return known && kinship_of(*known, row) == Kinship::same;
                     },
                 .bytes = row.record.size()};
    shared.write(job);
    const std::lock_guard lock(callback_mutex_);
    if (on_add_) on_add_();
  }

  void on_add(std::function<void()> callback) {
    const std::lock_guard lock(callback_mutex_);
    on_add_ = std::move(callback);
  }

 private:
  void insert(LetterTable& table, const NewRow& row) const {
    const auto known = table.find(row.id);
    std::int64_t freed = 0;
    if (known) {
      switch (kinship_of(*known, row)) {
        case Kinship::same:
          return;
        case Kinship::earlier:
          freed = cost_of({known->id, known->monitor, {}, known->record});
          break;
        case Kinship::other:
          throw RequestRejectedException(ErrorCode::invalid_argument, row.monitor,
                                         "The outbox holds another letter with the id " + row.id,
                                         "Give each operation an id of its own; the letter there was left as it is.");
      }
    }
    const OutboxDepth depth = table.depth();
    if (static_cast<std::int64_t>(depth.bytes) - freed + cost_of(row) > max_bytes_) {
      throw Error(ErrorCode::outbox_full, row.monitor,
                  "The outbox " + path().string() + " is full: " + std::to_string(depth.rows) +
                      (depth.rows == 1 ? " letter takes " : " letters take ") + std::to_string(depth.bytes) + " of " +
                      std::to_string(max_bytes_) + " bytes, and this one needs " + std::to_string(cost_of(row)),
                  "See why letters stay there: forelock dlq stats. Drain it, or raise dlq.outbox.max.bytes.");
    }
    // A row of its own: a replay of the earlier one removes that when it is done, not this. Not before all that
    // can be refused has been: the transaction is shared and goes on.
    if (known) table.remove(known->sequence);
    table.insert(row);
  }

  const pid_t process_ = ::getpid();
  const std::int64_t max_bytes_;
  SharedFile file_;
  std::mutex callback_mutex_;
  std::function<void()> on_add_;
};

Outbox::Outbox(OutboxOptions options) : impl_(std::make_unique<Impl>(options)) {}
Outbox::~Outbox() = default;

void Outbox::add(const DeadLetter& letter) {
  impl_->add(letter);
}

std::vector<Row> Outbox::read(std::int64_t after, std::size_t max_rows, std::size_t max_bytes) const {
  return impl_->file().read([&](LetterTable& table) { return table.read(after, max_rows, max_bytes); });
}

std::optional<Row> Outbox::find(std::string_view id) const {
  return impl_->file().read([&](LetterTable& table) { return table.find(id); });
}

void Outbox::remove(std::span<const std::int64_t> sequences) {
  if (sequences.empty()) return;
  WriteJob job{.work =
                   [&](LetterTable& table) {
                     for (const std::int64_t sequence : sequences) table.remove(sequence);
                   },
               .is_done =
                   [&](LetterTable& table) {
                     return std::none_of(sequences.begin(), sequences.end(),
                                         [&](std::int64_t sequence) { return table.find(sequence).has_value(); });
                   }};
  impl_->file().write(job);
}

void Outbox::set_state(std::int64_t sequence, RowState state) {
  WriteJob job{.work = [&](LetterTable& table) { table.set_state(sequence, state); },
               .is_done =
                   [&](LetterTable& table) {
                     const auto row = table.find(sequence);
                     return !row || row->state == state;
                   }};
  impl_->file().write(job);
}

std::uint32_t Outbox::count_try(std::int64_t sequence) {
  std::uint32_t tries = 0;
  WriteJob job{.work = [&](LetterTable& table) { tries = table.count_try(sequence); },
               .is_done =
                   [&](LetterTable& table) {
                     const auto row = table.find(sequence);
                     return !row || row->tries == tries;
                   }};
  impl_->file().write(job);
  return tries;
}

void Outbox::take_back_try(std::int64_t sequence) {
  std::uint32_t tries = 0;
  WriteJob job{.work = [&](LetterTable& table) { tries = table.count_try(sequence, -1); },
               .is_done =
                   [&](LetterTable& table) {
                     const auto row = table.find(sequence);
                     return !row || row->tries == tries;
                   }};
  impl_->file().write(job);
}

void Outbox::clear_journal() {
  impl_->file().read([](LetterTable& table) { table.clear_journal(); });
}

void Outbox::check() {
  impl_->file().read([](LetterTable& table) { table.check(); });
}

OutboxDepth Outbox::depth() const {
  return impl_->file().read([](LetterTable& table) { return table.depth(); });
}

const std::filesystem::path& Outbox::path() const {
  return impl_->path();
}

void Outbox::on_add(std::function<void()> callback) {
  impl_->on_add(std::move(callback));
}

}  // namespace forelock::outbox
