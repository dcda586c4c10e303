// Dead letters in a Kafka topic, for draining.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "drain/letter_store.h"
#include "drain/read_letter.h"
#include "drain/resolution_log.h"
#include "drain/resolution_table.h"
#include "drain/store_topics.h"
#include "forelock/client.h"
#include "forelock/settings.h"
#include "kafka/reader.h"

namespace forelock::drain {

// Nothing leaves the topic by being resolved: the compacted topic QUEUE.resolved says what is done with, so filtered
// replays may leave holes. Only the contiguous resolved prefix of each partition is committed (group "forelock-drain");
// a scan begins there. Parked letters are copies in QUEUE.parking, open there as long as QUEUE.resolved says "parked".
//
// A copy of which QUEUE.resolved knows nothing stands there, too, if the queue has not got the letter any more.
//
// Duplicates (the same id, failed at the same time) count as one letter: the first; of a letter that was put back, the
// first from where it was put, so that letters that are put back together keep their order although earlier copies of
// some lie behind the committed offset, and of others before it. What is in another machine's outbox
// is not seen, so a letter there that is older than one here does not keep it waiting.
//
// Memory: what librdkafka fetches ahead, and up to a limit 32 to 96 bytes for each letter that is resolved or visited,
// and some 60 more for each open one that was put back.
// With more resolved ones, only those are remembered whose letters are still in the topics, which takes longer; with
// more of those too, it is an error. More letters that are not resolved are no error: they are visited, but not looked
// at for duplicates any more.
//
// Thread-safe as its base says.
class KafkaStore final : public LetterStore {
 public:
  // Does not connect. \param monitor see drainer_monitor(). \throws ConfigurationException.
  // \param max_ids how many ids are remembered.
  KafkaStore(const Settings& settings, std::string monitor, LogSink log = {},
             std::size_t max_ids = ResolutionTable::default_limit);

  std::string describe() const override { return topics_.describe(); }
  std::string drainer_monitor() const override { return monitor_; }
  void set_drainer(const DrainerProof* drainer) override;
  void scan(const LetterFilter& filter, LetterVisitor& visitor) override;
  std::optional<StoredLetter> find(const std::string& id) override;
  std::uint32_t begin_try(const StoredLetter& letter) override;
  void take_back_try(const StoredLetter& letter) override;
  void resolve(const StoredLetter& letter, Resolution resolution) override;
  void resolve(const UnreadableLetter& letter, Resolution resolution) override;
  bool restore(const StoredLetter& letter) override;
  void settle() override;
  // Of the queue and of the parking place; then what QUEUE.resolved knows of letters that are in neither any more. An
  // outbox that holds a duplicate of such a letter, not forwarded yet, brings it back into the queue.
  std::uint64_t delete_resolved() override;

 private:
  enum class Place { queue, parking };

  kafka::Reader& reader(Place place) { return place == Place::queue ? queue_ : parking_; }
  // Learns what is resolved.
  void load();
  // The keys of all that is in the topics, resolved or not; nothing if they are too many.
  std::optional<ResolutionTable> keys_in_topics();
  // Nothing if there is no parking place yet.
  std::optional<std::vector<kafka::PartitionRange>> ranges(Place place);
  void scan(Place place, const LetterFilter& filter, LetterVisitor& visitor);
  // Whether it is a copy of a letter that was put back behind it.
  bool is_earlier_copy(Place place, HashedKey key, const kafka::RecordView& record) const;
  static LetterOrNot read_record(Place place, const kafka::RecordView& record);
  // Whether it is to be shown.
  bool is_open(Place place, const LetterOrNot& read);
  // Whether the queue shows a letter with this key, from what it holds behind the committed offsets.
  bool is_in_queue(HashedKey key);
  // Whether it is certain that it need not be read again.
  bool is_passed(Place place, const LetterOrNot& read) const;
  void settle(Place place);
  std::uint64_t delete_resolved(Place place);
  // What is written behind the states: rises from drainer to drainer.
  std::uint64_t fence();
  void write(const std::string& key, ResolutionState state, std::optional<kafka::RecordPlace> put_back = {});
  // Writes what counts over what a late drainer has written behind it.
  void write_over_overruled();

  std::string monitor_;
  std::size_t max_ids_;
  StoreTopics topics_;
  ResolutionLog resolutions_;
  kafka::Reader queue_;
  kafka::Reader parking_;
  std::optional<ResolutionTable> queue_keys_;  // since the last load, if they were asked for
  std::mutex mutex_;
  std::uint64_t fence_ = 0;  // guarded by mutex_; 0: not known yet
};

}  // namespace forelock::drain
