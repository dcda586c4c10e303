#include "integration/transaction_log.h"
#include "support/text_of.h"

namespace forelock::test {
namespace {

constexpr std::int32_t log_magic = 0x5A4B4C47;  // "ZKLG"

// ZooKeeper's numbers for kinds of transactions.
enum : std::int32_t {
  create_node = 1,
  delete_node = 2,
  set_data = 5,
  multi = 14,
  create2_node = 15,
  create_container = 19,
  delete_container = 20,
  close_session = -11,
  error = -1
};

// Jute: big-endian numbers, byte strings with a length.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  std::size_t left() const { return bytes_.size(); }
  template <typename Number>
  Number number() {
    std::uint64_t value = 0;
    for (const char byte : take(sizeof(Number))) value = value << 8 | static_cast<unsigned char>(byte);
    return static_cast<Number>(value);
  }
  std::string_view bytes() {
    const auto size = number<std::int32_t>();
    return size <= 0 ? std::string_view() : take(static_cast<std::size_t>(size));
  }
  std::string_view take(std::size_t size) {
    if (size > bytes_.size()) throw std::runtime_error("transaction log: a record is too short");
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }

 private:
  std::string_view bytes_;
};

void read_operations(std::int32_t type, Reader& reader, std::vector<LoggedOperation>& operations) {
  LoggedOperation operation;
  switch (type) {
    case create_node:
    case create2_node:
    case create_container: {
      operation.kind = LoggedOperation::Kind::create;
      operation.path = reader.bytes();
      operation.data = reader.bytes();
      for (auto entries = reader.number<std::int32_t>(); entries > 0; --entries) {
        reader.number<std::int32_t>();
        reader.bytes();
        reader.bytes();
      }
      operation.ephemeral = type != create_container && reader.number<std::int8_t>() != 0;
      break;
    }
    case delete_node:
    case delete_container:
      operation.kind = LoggedOperation::Kind::remove;
      operation.path = reader.bytes();
      break;
    case set_data:
      operation.kind = LoggedOperation::Kind::set;
      operation.path = reader.bytes();
      operation.data = reader.bytes();
      break;
    case multi: {
      bool failed = false;
      std::vector<LoggedOperation> parts;
      for (auto count = reader.number<std::int32_t>(); count > 0; --count) {
        const auto part = reader.number<std::int32_t>();
        Reader record(reader.bytes());
        failed |= part == error;  // the parts before it are logged as if they had been done
        read_operations(part, record, parts);
      }
      if (!failed) operations = std::move(parts);
      return;
    }
    default:
      return;
  }
  operations.push_back(std::move(operation));
}

// Adler-32, as the server checks its records.
std::int64_t checksum(std::string_view bytes) {
  constexpr std::uint32_t modulus = 65521;
  std::uint32_t a = 1;
  std::uint32_t b = 0;
  for (const char byte : bytes) {
    a = (a + static_cast<unsigned char>(byte)) % modulus;
    b = (b + a) % modulus;
  }
  return static_cast<std::int64_t>(b << 16 | a);
}

// The end of a file may be zeros, allocated ahead, or torn: its server was killed, or its disk was full.
std::optional<std::string_view> next_record(Reader& reader) {
  if (reader.left() < 12) return std::nullopt;
  const auto expected = reader.number<std::int64_t>();
  const auto size = reader.number<std::int32_t>();
  if (size <= 0 || static_cast<std::size_t>(size) >= reader.left()) return std::nullopt;
  const std::string_view record = reader.take(static_cast<std::size_t>(size));
  reader.take(1);
  if (checksum(record) != expected) return std::nullopt;
  return record;
}

void read_file(const std::filesystem::path& path, std::vector<LoggedTransaction>& transactions) {
  const std::string bytes = text_of(path);
  Reader reader(bytes);
  if (reader.left() < 16) return;
  const auto magic = reader.number<std::int32_t>();
  if (magic == 0) return;  // torn at once
  if (magic != log_magic) throw std::runtime_error("not a transaction log: " + path.string());
  reader.take(12);
  while (const auto record = next_record(reader)) {
    Reader fields(*record);
    LoggedTransaction transaction;
    transaction.session = fields.number<std::int64_t>();
    fields.number<std::int32_t>();
    transaction.zxid = fields.number<std::int64_t>();
    fields.number<std::int64_t>();
    const auto type = fields.number<std::int32_t>();
    transaction.closes_session = type == close_session;
    if (!transaction.closes_session) read_operations(type, fields, transaction.operations);
    transactions.push_back(std::move(transaction));
  }
}

}  // namespace

std::vector<LoggedTransaction> read_transaction_log(const std::filesystem::path& directory) {
  std::vector<std::pair<std::int64_t, std::filesystem::path>> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("log.")) files.emplace_back(std::stoll(name.substr(4), nullptr, 16), entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<LoggedTransaction> transactions;
  for (const auto& [first, path] : files) read_file(path, transactions);
  return transactions;
}

}  // namespace forelock::test
