#include "integration/drain_stores.h"

#include "drain/open_store.h"
#include "integration/dead_letters.h"
#include "integration/fixture.h"
#include "kafka/producer.h"
#include "letter/letter_headers.h"
#include "letter/letter_json.h"
#include "outbox/letter_table.h"
#include "outbox/outbox.h"
#include "support/temporary_directory.h"

namespace forelock::test {
namespace {

using namespace std::chrono_literals;

class OutboxToDrain final : public DrainStore {
 public:
  OutboxToDrain() { outbox::Outbox({.path = path_}).depth(); }

  void add(const std::vector<DeadLetter>& letters) override {
    std::vector<outbox::NewRow> rows;
    for (const DeadLetter& letter : letters) {
      rows.push_back({letter.id, letter.monitor, letter.failed_at, letter::to_json(letter)});
    }
    insert(rows);
  }
  void add_record(const std::string& monitor, const std::string& record) override {
    insert({{"unreadable-" + std::to_string(++unreadable_), monitor, WallTime{}, record}});
  }
  void add_duplicate(const DeadLetter& letter) override { outbox::Outbox({.path = path_}).add(letter); }
  std::vector<std::pair<std::string, std::string>> settings() const override {
    return {{"dlq.outbox.path", path_.string()}};
  }

 private:
  void insert(const std::vector<outbox::NewRow>& rows) {
    outbox::LetterTable table(outbox::Connection(path_, 10s));
    table.begin();
    for (const outbox::NewRow& row : rows) table.insert(row);
    table.commit();
  }

  TemporaryDirectory directory_;
  const std::filesystem::path path_ = directory_.path() / "outbox.db";
  int unreadable_ = 0;
};

class TopicToDrain final : public DrainStore {
 public:
  static constexpr int partitions = 3;

  TopicToDrain() : topic_("Drain" + std::to_string(++topics)), producer_(producer_settings()) {
    make_topic(shared_broker(), topic_, partitions, {{"max.message.bytes", "9000000"}});
  }

  void add(const std::vector<DeadLetter>& letters) override {
    for (const DeadLetter& letter : letters) {
      kafka::Record record{topic_, letter.monitor, letter::to_json(letter), {}};
      for (letter::Header& header : letter::headers_of(letter)) record.headers.emplace_back(header.name, header.value);
      send(record);
    }
    wait_for_delivery();
  }
  void add_record(const std::string& monitor, const std::string& record) override {
    send({topic_, monitor, record, {}});
    wait_for_delivery();
  }
  void add_duplicate(const DeadLetter& letter) override { add({letter}); }
  std::vector<std::pair<std::string, std::string>> settings() const override {
    return {{"dlq.topic", topic_}, {"kafka.bootstrap.servers", shared_broker().bootstrap()}};
  }

 private:
  static Settings producer_settings() { return queue_settings("/nowhere", shared_broker().bootstrap()); }

  void send(const kafka::Record& record) {
    const auto count = [this](const kafka::Delivery& delivery) { delivered_ += delivery.delivered ? 1 : 0; };
    while (!producer_.try_send(record, count)) producer_.flush(1s);
    ++sent_;
  }
  void wait_for_delivery() {
    producer_.flush(60s);
    if (delivered_ != sent_) throw std::runtime_error("records could not be delivered to " + topic_);
  }

  inline static std::atomic<int> topics = 0;

  const std::string topic_;
  std::uint64_t sent_ = 0;
  std::atomic<std::uint64_t> delivered_ = 0;
  kafka::Producer producer_;
};

class Collector final : public drain::LetterVisitor {
 public:
  explicit Collector(StoreContents& contents) : contents_(contents) {}
  bool letter(const drain::StoredLetter& letter) override {
    contents_.letters.push_back(letter);
    return true;
  }
  bool unreadable(const drain::UnreadableLetter& letter) override {
    contents_.unreadable.push_back(letter);
    return true;
  }

 private:
  StoreContents& contents_;
};

}  // namespace

std::unique_ptr<DrainStore> DrainStore::make(const std::string& kind) {
  if (kind == "kafka") return std::make_unique<TopicToDrain>();
  return std::make_unique<OutboxToDrain>();
}

Settings DrainStore::settings_with(const std::string& servers) const {
  Settings with = settings_for(servers, {{"zookeeper.session.timeout", "2000"}});
  for (const auto& [key, value] : settings()) with.set(key, value);
  return with;
}

std::unique_ptr<drain::LetterStore> DrainStore::open() const {
  Settings mine;
  for (const auto& [key, value] : settings()) mine.set(key, value);
  return drain::open_store(mine, drain::StoreKind::configured);
}

TestServer& shared_server() {
  static TestServer server(quick_server());
  return server;
}

TestBroker& shared_broker() {
  static TestBroker broker;
  return broker;
}

std::vector<std::string> StoreContents::ids() const {
  std::vector<std::string> ids;
  for (const auto& letter : letters) ids.push_back(letter.letter.id);
  return ids;
}

std::vector<std::string> StoreContents::ids_of(const std::string& monitor) const {
  std::vector<std::string> ids;
  for (const auto& letter : letters) {
    if (letter.letter.monitor == monitor) ids.push_back(letter.letter.id);
  }
  return ids;
}

const drain::StoredLetter& StoreContents::letter(const std::string& id) const {
  const auto found =
      std::find_if(letters.begin(), letters.end(), [&](const auto& letter) { return letter.letter.id == id; });
  if (found == letters.end()) throw std::runtime_error("there is no letter " + id);
  return *found;
}

StoreContents contents_of(drain::LetterStore& store, const drain::LetterFilter& filter) {
  StoreContents contents;
  Collector collector(contents);
  store.scan(filter, collector);
  return contents;
}

StoreContents parked_in(drain::LetterStore& store) {
  drain::LetterFilter filter;
  filter.parked = true;
  return contents_of(store, filter);
}

}  // namespace forelock::test
