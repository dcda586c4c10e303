#include "outbox/salvage.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "letter/letter_json.h"

namespace forelock::outbox {
namespace {

// A leaf of a table, in the first byte of a page.
constexpr unsigned table_leaf = 0x0D;
constexpr std::size_t leaf_header_bytes = 8;
// No row is longer: the longest record, and everything else with much to spare.
constexpr std::uint64_t max_row_bytes = letter::max_letter_bytes + 64 * 1024;

// The table's columns, in their order.
enum Column : std::size_t { sequence, id, monitor, state, tries, failed_at, cost, checksum, record, column_count };

// Big-endian numbers and varints from the front of some bytes; after a failure everything fails.
class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : rest_(bytes) {}

  std::uint64_t fixed(std::size_t size) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) value = value << 8 | next();
    return value;
  }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int i = 0; i < 8; ++i) {
      const unsigned byte = next();
      value = value << 7 | (byte & 0x7F);
      if ((byte & 0x80) == 0) return value;
    }
    return value << 8 | next();
  }

  std::string_view text(std::uint64_t size) {
    if (size > rest_.size()) return fail(), std::string_view();
    const std::string_view text = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return text;
  }

  bool good() const { return good_; }
  std::string_view rest() const { return rest_; }

 private:
  unsigned next() {
    if (rest_.empty()) return fail(), 0U;
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    return byte;
  }

  void fail() {
    good_ = false;
    rest_ = {};
  }

  std::string_view rest_;
  bool good_ = true;
};

// How a column's value is stored: "serial type" in SQLite's words.
class StoredType {
 public:
  explicit StoredType(std::uint64_t code = 0) : code_(code) {}
  bool is_null() const { return code_ == 0; }
  bool is_number() const { return (code_ >= 1 && code_ <= 6) || code_ == 8 || code_ == 9; }
  bool is_text() const { return code_ >= 13 && code_ % 2 == 1; }

  std::uint64_t size() const {
    constexpr std::array<std::uint64_t, 10> of_numbers{0, 1, 2, 3, 4, 6, 8, 8, 0, 0};
    return code_ < of_numbers.size() ? of_numbers[code_] : (code_ - 12) / 2;
  }

  std::int64_t number(Bytes& bytes) const {
    if (code_ == 8 || code_ == 9) return static_cast<std::int64_t>(code_ - 8);
    const std::uint64_t bits = 8 * size();
    const std::uint64_t value = bytes.fixed(size());
    const std::uint64_t sign = bits == 0 ? 0 : value >> (bits - 1);
    return static_cast<std::int64_t>(sign == 0 || bits == 64 ? value : value | ~std::uint64_t{0} << bits);
  }

 private:
  std::uint64_t code_;
};

using StoredTypes = std::array<StoredType, column_count>;

// The types at the head of a row; nothing if it is no row of our table.
std::optional<StoredTypes> types_of(Bytes& row, std::uint64_t row_bytes) {
  const std::string_view whole = row.rest();
  const std::uint64_t head_bytes = row.varint();
  const std::uint64_t size_bytes = whole.size() - row.rest().size();
  if (!row.good() || head_bytes < size_bytes) return std::nullopt;
  Bytes head(row.text(head_bytes - size_bytes));
  StoredTypes types;
  std::uint64_t sum = head_bytes;
  for (std::size_t i = 0; i < column_count; ++i) {
    types[i] = StoredType(head.varint());
    const bool fits = i == sequence                            ? types[i].is_null()
                      : i == id || i == monitor || i == record ? types[i].is_text()
                                                               : types[i].is_number();
    if (!head.good() || !fits || types[i].size() > max_row_bytes) return std::nullopt;
    sum += types[i].size();
  }
  if (!row.good() || !head.rest().empty() || sum != row_bytes) return std::nullopt;
  return types;
}

// The row behind its head, if its checksum is right.
std::optional<SavedRow> row_of(Bytes values, const StoredTypes& types, std::int64_t number) {
  SavedRow row;
  row.sequence = std::max<std::int64_t>(number, 0);
  row.letter.key = values.text(types[id].size());
  row.letter.monitor = values.text(types[monitor].size());
  row.state = types[state].number(values) == 1 ? RowState::parked : RowState::queued;
  row.tries = static_cast<std::uint32_t>(std::clamp<std::int64_t>(types[tries].number(values), 0, 1'000'000));
  row.letter.failed_at = WallTime(std::chrono::milliseconds(types[failed_at].number(values)));
  types[cost].number(values);
  const std::int64_t expected = types[checksum].number(values);
  row.letter.record = values.text(types[record].size());
  if (!values.good() || checksum_of(row.letter.key, row.letter.monitor, row.letter.record) != expected) {
    return std::nullopt;
  }
  return row;
}

// The file as pages, counted from 1. What lies behind its end is missing.
class Pages {
 public:
  explicit Pages(const std::filesystem::path& path) : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (file_ < 0) throw std::system_error(errno, std::system_category(), "opening " + path.string());
    struct stat status {};
    if (::fstat(file_, &status) == 0) bytes_ = static_cast<std::uint64_t>(status.st_size);
  }
  ~Pages() { ::close(file_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  std::uint64_t count() const { return bytes_ / page_bytes; }
  std::uint64_t bytes() const { return bytes_; }

  // \returns what can be read of it; a disk that gives an error for a page is one of the reasons to be here.
  std::string_view read(std::uint64_t page, std::string& buffer) const {
    buffer.resize(page_bytes);
    if (page == 0 || page > count()) return {};
    const auto offset = static_cast<off_t>((page - 1) * page_bytes);
    const ssize_t got = ::pread(file_, buffer.data(), buffer.size(), offset);
    return got == static_cast<ssize_t>(page_bytes) ? std::string_view(buffer) : std::string_view();
  }

 private:
  int file_;
  std::uint64_t bytes_ = 0;
};

// How many of a row's bytes are in the leaf itself: "Cell Payload Overflow Pages" of the file format.
std::uint64_t local_bytes(std::uint64_t row_bytes) {
  constexpr std::uint64_t most = page_bytes - 35;
  constexpr std::uint64_t least = (page_bytes - 12) * 32 / 255 - 23;
  if (row_bytes <= most) return row_bytes;
  const std::uint64_t whole = least + (row_bytes - least) % (page_bytes - 4);
  return whole <= most ? whole : least;
}

class Salvage {
 public:
  Salvage(const Pages& pages, const std::function<void(const SavedRow&)>& visitor) : pages_(pages), visitor_(visitor) {}

  SalvageReport run() {
    std::string buffer;
    for (std::uint64_t page = 2; page <= pages_.count(); ++page) leaf(pages_.read(page, buffer));
    return report_;
  }

 private:
  void leaf(std::string_view page) {
    Bytes head(page);
    if (head.fixed(1) != table_leaf) return;
    head.fixed(2);
    const std::uint64_t cells = head.fixed(2);
    if (!head.good() || leaf_header_bytes + 2 * cells > page.size()) return;
    Bytes places(page.substr(leaf_header_bytes));
    for (std::uint64_t i = 0; i < cells; ++i) {
      const std::uint64_t place = places.fixed(2);
      if (place < page.size()) cell(page.substr(place));
    }
  }

  void cell(std::string_view bytes) {
    Bytes head(bytes);
    const std::uint64_t row_bytes = head.varint();
    const auto number = static_cast<std::int64_t>(head.varint());
    if (!head.good() || row_bytes > std::min(max_row_bytes, pages_.bytes())) return;
    const std::uint64_t local = local_bytes(row_bytes);
    std::string whole(head.text(local));
    Bytes row(whole);
    const auto types = types_of(row, row_bytes);
    if (!types) return;
    const std::size_t head_bytes = whole.size() - row.rest().size();
    if (row_bytes > local) follow(head.fixed(4), row_bytes, whole);
    const auto saved = row_of(Bytes(std::string_view(whole).substr(head_bytes)), *types, number);
    if (saved) {
      visitor_(*saved);
    } else {
      ++report_.unreadable;
    }
  }

  // Appends the row's bytes that did not fit into the leaf, as far as the chain of pages leads.
  void follow(std::uint64_t page, std::uint64_t row_bytes, std::string& row) {
    while (row.size() < row_bytes) {
      Bytes bytes(pages_.read(page, overflow_));
      page = bytes.fixed(4);
      if (!bytes.good()) return;
      row += bytes.rest().substr(0, row_bytes - row.size());
    }
  }

  const Pages& pages_;
  const std::function<void(const SavedRow&)>& visitor_;
  std::string overflow_;
  SalvageReport report_;
};

}  // namespace

SalvageReport salvage(const std::filesystem::path& path, const std::function<void(const SavedRow&)>& visitor) {
  const Pages pages(path);
  return Salvage(pages, visitor).run();
}

}  // namespace forelock::outbox
