// The destination of dead letters in a run: an outbox on disk, and a broker with its topic.
#pragma once

#include "robustness/history/history_writer.h"
#include "support/test_broker.h"

namespace forelock::robustness {

// What changes it belongs to one thread at a time.
class LetterOffice {
 public:
  // Starts the broker and makes the topic. `outbox` is where its clients will make theirs. Throws std::runtime_error.
  explicit LetterOffice(std::filesystem::path outbox);

  // Settings for whoever dead-letters, as KEY=VALUE.
  std::vector<std::string> settings() const;
  test::TestBroker& broker() { return broker_; }

  // The outbox can be read and not written until this object ends.
  class Occupation {
   public:
    // \returns nothing if there is no outbox yet, or others do not let go of it.
    static std::shared_ptr<Occupation> of(const std::filesystem::path& outbox);
    ~Occupation();
    Occupation(const Occupation&) = delete;
    Occupation& operator=(const Occupation&) = delete;

   private:
    explicit Occupation(void* database) : database_(database) {}
    void* database_;
  };
  std::shared_ptr<Occupation> occupy() const { return Occupation::of(outbox_); }

  // Starts the broker if it does not run, and waits for it.
  bool heal(std::chrono::milliseconds patience);

  // Writes down every letter that is in the topic or in the outbox. Nobody else uses either any more. \returns how
  // many. Throws std::runtime_error for what is there and is no letter.
  std::size_t record_letters(HistoryWriter& history);

 private:
  const std::filesystem::path outbox_;
  test::TestBroker broker_;
};

}  // namespace forelock::robustness
