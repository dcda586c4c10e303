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

// How a stored letter relates to a new one with the same id. (An id may be used again, and an operation that was
// replayed may fail again: what fails later is another letter, here as in Kafka.)
enum class Kinship {
  same,      // given again
  conflict,  // said to be the same, with other contents
  none       // another letter
};

Kinship kinship_of(const Row& known, const DeadLetter& given) {
  try {
    const DeadLetter one = letter::from_json(known.record);
    DeadLetter other = letter::from_json(letter::to_json(given));  // with what cannot be kept left out
    if (one.failed_at != other.failed_at || one.replay_count != other.replay_count) return Kinship::none;
    other.attempts = one.attempts;  // the first one's stay
    return letter::to_json(one) == letter::to_json(other) ? Kinship::same : Kinship::conflict;
  } catch (const Error&) {
    return Kinship::none;  // what cannot be read is not known to be the same
  }
}

// Where a letter stands, or may be put.
struct Place {
  std::string key;
  std::optional<Row> row;
};

Place place_of(LetterTable& table, const DeadLetter& letter) {
  const auto conflict = [&] {
    return RequestRejectedException(
        ErrorCode::invalid_argument, letter.monitor,
        "The outbox holds another letter with the id " + letter.id + " and the same time of failure",
        "Give each operation an id of its own; the letter there was left as it is.");
  };
  std::string free;
  for (const std::string& key : {later_key(letter), letter.id}) {
    std::optional<Row> known = table.find_key(key);
    if (!known) {
      free = key;
      continue;
    }
    const Kinship kinship = kinship_of(*known, letter);
    if (kinship == Kinship::same) return {key, std::move(known)};
    if (kinship == Kinship::conflict || key != letter.id) throw conflict();
  }
  return {free, std::nullopt};
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
    NewRow row{{}, letter.monitor, letter.failed_at, letter::to_json(letter)};
    WriteJob job{.work = [&](LetterTable& table) { insert(table, letter, row); },
                 .is_done = [&](LetterTable& table) { return place_of(table, letter).row.has_value(); },
                 .bytes = row.record.size()};
    shared.write(job);
    const std::lock_guard lock(callback_mutex_);
    if (on_add_) on_add_();
  }

  std::uint32_t change_tries(const RowRef& row, std::int64_t change) {
    std::uint32_t tries = 0;
    WriteJob job{.work = [&](LetterTable& table) { tries = table.count_try(row, change); },
                 .is_done =
                     [&](LetterTable& table) {
                       const auto known = table.find(row);
                       return !known || known->tries == tries;
                     }};
    file().write(job);
    return tries;
  }

  void on_add(std::function<void()> callback) {
    const std::lock_guard lock(callback_mutex_);
    on_add_ = std::move(callback);
  }

 private:
  void insert(LetterTable& table, const DeadLetter& letter, NewRow& row) const {
    Place place = place_of(table, letter);
    if (place.row) return;
    row.key = std::move(place.key);
    const OutboxDepth depth = table.depth();
    if (static_cast<std::int64_t>(depth.bytes) + cost_of(row) > max_bytes_) {
      throw Error(ErrorCode::outbox_full, row.monitor,
                  "The outbox " + path().string() + " is full: " + std::to_string(depth.rows) +
                      (depth.rows == 1 ? " letter takes " : " letters take ") + std::to_string(depth.bytes) + " of " +
                      std::to_string(max_bytes_) + " bytes, and this one needs " + std::to_string(cost_of(row)),
                  "See why letters stay there: forelock dlq stats. Drain it, or raise dlq.outbox.max.bytes.");
    }
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

std::optional<Row> Outbox::find(const DeadLetter& letter) const {
  return impl_->file().read([&](LetterTable& table) { return place_of(table, letter).row; });
}

void Outbox::remove(std::span<const RowRef> rows) {
  if (rows.empty()) return;
  WriteJob job{.work =
                   [&](LetterTable& table) {
                     for (const RowRef& row : rows) table.remove(row);
                   },
               .is_done =
                   [&](LetterTable& table) {
                     return std::none_of(rows.begin(), rows.end(),
                                         [&](const RowRef& row) { return table.find(row).has_value(); });
                   }};
  impl_->file().write(job);
}

void Outbox::set_state(const RowRef& row, RowState state) {
  WriteJob job{.work = [&](LetterTable& table) { table.set_state(row, state); },
               .is_done =
                   [&](LetterTable& table) {
                     const auto known = table.find(row);
                     return !known || known->state == state;
                   }};
  impl_->file().write(job);
}

std::uint32_t Outbox::count_try(const RowRef& row) {
  return impl_->change_tries(row, 1);
}

void Outbox::take_back_try(const RowRef& row) {
  impl_->change_tries(row, -1);
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
