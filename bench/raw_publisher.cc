#include "bench/raw_publisher.h"

#include <chrono>
#include <stdexcept>

namespace forelock::bench {
namespace {

// As the forwarder gathers them.
constexpr std::size_t deletion_batch = 1024;
constexpr std::chrono::milliseconds deletion_gathering{20};
constexpr int read_rows = 512;

void check(int code, sqlite3* database) {
  if (code != SQLITE_OK && code != SQLITE_DONE && code != SQLITE_ROW) {
    throw std::runtime_error(sqlite3_errmsg(database));
  }
}

void run(sqlite3* database, const char* text) {
  check(sqlite3_exec(database, text, nullptr, nullptr, nullptr), database);
}

sqlite3* open(const std::filesystem::path& file) {
  sqlite3* database = nullptr;
  check(sqlite3_open(file.c_str(), &database), database);
  run(database, "PRAGMA journal_mode=PERSIST");
  run(database, "PRAGMA synchronous=FULL");
  run(database, "CREATE TABLE IF NOT EXISTS letter(sequence INTEGER PRIMARY KEY AUTOINCREMENT, id, key, record)");
  return database;
}

sqlite3_stmt* prepare(sqlite3* database, const char* text) {
  sqlite3_stmt* statement = nullptr;
  check(sqlite3_prepare_v2(database, text, -1, &statement, nullptr), database);
  return statement;
}

void bind(sqlite3_stmt* statement, int place, const std::string& text) {
  sqlite3_bind_text(statement, place, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
}

void step(sqlite3_stmt* statement, sqlite3* database) {
  check(sqlite3_step(statement), database);
  sqlite3_reset(statement);
}

std::int64_t insert(sqlite3_stmt* statement, sqlite3* database, const RawLetter& letter) {
  bind(statement, 1, letter.id);
  bind(statement, 2, letter.key);
  bind(statement, 3, letter.record);
  step(statement, database);
  return sqlite3_last_insert_rowid(database);
}

constexpr const char* insert_text = "INSERT INTO letter(id, key, record) VALUES(?, ?, ?)";

std::string text_of(sqlite3_stmt* row, int column) {
  return {reinterpret_cast<const char*>(sqlite3_column_text(row, column)),
          static_cast<std::size_t>(sqlite3_column_bytes(row, column))};
}

}  // namespace

RawPublisher::RawPublisher(const std::filesystem::path& file, const std::string& bootstrap, std::string topic,
                           Headers headers)
    : topic_(std::move(topic)), headers_(std::move(headers)) {
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  char reason[512];
  const std::pair<const char*, const char*> values[] = {{"bootstrap.servers", bootstrap.c_str()},
                                                        {"enable.idempotence", "true"},
                                                        {"acks", "all"},
                                                        {"partitioner", "murmur2_random"}};
  for (const auto& [key, value] : values) {
    if (rd_kafka_conf_set(conf, key, value, reason, sizeof reason) != RD_KAFKA_CONF_OK)
      throw std::runtime_error(reason);
  }
  rd_kafka_conf_set_opaque(conf, this);
  rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
  client_ = rd_kafka_new(RD_KAFKA_PRODUCER, conf, reason, sizeof reason);
  if (client_ == nullptr) throw std::runtime_error(reason);
  if (!file.empty()) {
    database_ = open(file);
    insert_ = prepare(database_, insert_text);
    delete_ = prepare(database_, "DELETE FROM letter WHERE sequence = ?");
    writer_ = std::thread([this] { write(); });
  }
  poller_ = std::thread([this] { poll(); });
}

RawPublisher::~RawPublisher() {
  {
    const std::lock_guard guard(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  polling_ = false;
  if (writer_.joinable()) writer_.join();
  poller_.join();
  sqlite3_finalize(insert_);
  sqlite3_finalize(delete_);
  sqlite3_close(database_);
  rd_kafka_destroy(client_);
}

void RawPublisher::fill(const std::filesystem::path& file, const std::vector<RawLetter>& letters) {
  sqlite3* database = open(file);
  sqlite3_stmt* statement = prepare(database, insert_text);
  run(database, "BEGIN");
  for (const RawLetter& letter : letters) insert(statement, database, letter);
  run(database, "COMMIT");
  sqlite3_finalize(statement);
  sqlite3_close(database);
}

void RawPublisher::accept(const RawLetter& letter) {
  if (database_ != nullptr) {
    Waiting waiting{.insert = {letter, 0}, .done = false, .wake = {}};
    std::unique_lock guard(mutex_);
    waiting_.push_back(&waiting);
    if (waiting_.size() == 1) changed_.notify_all();
    waiting.wake.wait(guard, [&] { return waiting.done; });
    return;
  }
  {
    const std::lock_guard guard(mutex_);
    ++handed_over_;
  }
  produce(letter.key, letter.record, 0);
}

void RawPublisher::forward() {
  const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> select(
      prepare(database_, "SELECT sequence, key, record FROM letter WHERE sequence > ? ORDER BY sequence LIMIT ?"),
      sqlite3_finalize);
  std::int64_t after = 0;
  for (;;) {
    std::vector<std::pair<std::int64_t, RawLetter>> rows;
    {
      const std::lock_guard guard(database_mutex_);
      sqlite3_bind_int64(select.get(), 1, after);
      sqlite3_bind_int(select.get(), 2, read_rows);
      while (sqlite3_step(select.get()) == SQLITE_ROW) {
        rows.emplace_back(sqlite3_column_int64(select.get(), 0),
                          RawLetter{"", text_of(select.get(), 1), text_of(select.get(), 2)});
      }
      sqlite3_reset(select.get());
    }
    if (rows.empty()) return;
    {
      const std::lock_guard guard(mutex_);
      handed_over_ += rows.size();
    }
    for (const auto& [sequence, letter] : rows) produce(letter.key, letter.record, sequence);
    after = rows.back().first;
  }
}

void RawPublisher::wait_until_empty() {
  std::unique_lock guard(mutex_);
  changed_.wait(guard, [&] { return gone_ == handed_over_; });
}

void RawPublisher::write() {
  std::unique_lock guard(mutex_);
  for (;;) {
    changed_.wait(guard, [&] { return stopping_ || !waiting_.empty() || !deletions_.empty(); });
    if (stopping_) return;
    if (waiting_.empty()) {
      changed_.wait_for(guard, deletion_gathering,
                        [&] { return stopping_ || !waiting_.empty() || deletions_.size() >= deletion_batch; });
    }
    std::vector<Waiting*> waiting;
    std::vector<std::int64_t> deletions;
    waiting.swap(waiting_);
    deletions.swap(deletions_);
    handed_over_ += waiting.size();
    guard.unlock();
    std::vector<Insert> inserts;
    for (Waiting* each : waiting) inserts.push_back(std::move(each->insert));
    transact(inserts, deletions);
    guard.lock();
    for (Waiting* each : waiting) {
      each->done = true;
      each->wake.notify_one();
    }
    gone_ += deletions.size();
    if (gone_ == handed_over_) changed_.notify_all();
    guard.unlock();
    for (const Insert& each : inserts) produce(each.letter.key, each.letter.record, each.sequence);
    guard.lock();
  }
}

void RawPublisher::transact(std::vector<Insert>& inserts, const std::vector<std::int64_t>& deletions) {
  const std::lock_guard guard(database_mutex_);
  run(database_, "BEGIN IMMEDIATE");
  for (Insert& each : inserts) each.sequence = insert(insert_, database_, each.letter);
  for (const std::int64_t sequence : deletions) {
    sqlite3_bind_int64(delete_, 1, sequence);
    step(delete_, database_);
  }
  run(database_, "COMMIT");
}

void RawPublisher::produce(const std::string& key, const std::string& record, std::int64_t sequence) {
  std::vector<rd_kafka_vu_t> fields(5 + headers_.size());
  fields[0].vtype = RD_KAFKA_VTYPE_TOPIC;
  fields[0].u.cstr = topic_.c_str();
  fields[1].vtype = RD_KAFKA_VTYPE_KEY;
  fields[1].u.mem.ptr = const_cast<char*>(key.data());
  fields[1].u.mem.size = key.size();
  fields[2].vtype = RD_KAFKA_VTYPE_VALUE;
  fields[2].u.mem.ptr = const_cast<char*>(record.data());
  fields[2].u.mem.size = record.size();
  fields[3].vtype = RD_KAFKA_VTYPE_MSGFLAGS;
  fields[3].u.i = RD_KAFKA_MSG_F_COPY | RD_KAFKA_MSG_F_BLOCK;
  fields[4].vtype = RD_KAFKA_VTYPE_OPAQUE;
  fields[4].u.ptr = reinterpret_cast<void*>(sequence);
  for (std::size_t i = 0; i < headers_.size(); ++i) {
    rd_kafka_vu_t& field = fields[5 + i];
    field.vtype = RD_KAFKA_VTYPE_HEADER;
    field.u.header.name = headers_[i].first.c_str();
    field.u.header.val = headers_[i].second.data();
    field.u.header.size = static_cast<ssize_t>(headers_[i].second.size());
  }
  rd_kafka_error_t* error = rd_kafka_produceva(client_, fields.data(), fields.size());
  if (error != nullptr) throw std::runtime_error(rd_kafka_error_string(error));
}

void RawPublisher::poll() {
  while (polling_) rd_kafka_poll(client_, 100);
}

void RawPublisher::on_delivery(rd_kafka_t*, const rd_kafka_message_t* message, void* self) {
  auto& publisher = *static_cast<RawPublisher*>(self);
  if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) throw std::runtime_error(rd_kafka_err2str(message->err));
  bool wake = false;
  {
    const std::lock_guard guard(publisher.mutex_);
    if (publisher.database_ == nullptr) {
      wake = ++publisher.gone_ == publisher.handed_over_;
    } else {
      publisher.deletions_.push_back(reinterpret_cast<std::int64_t>(message->_private));
      wake = publisher.deletions_.size() == 1 || publisher.deletions_.size() == deletion_batch;
    }
  }
  if (wake) publisher.changed_.notify_all();
}

}  // namespace forelock::bench
