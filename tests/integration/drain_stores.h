// Dead-letter stores to be drained: an outbox, and a topic of a real broker.
#pragma once

#include "drain/letter_store.h"
#include "forelock/dead_letter_sink.h"
#include "forelock/settings.h"
#include "support/test_broker.h"
#include "support/test_server.h"

namespace forelock::test {

// One store, empty at first, and the ways by which things get into it. Not thread-safe.
class DrainStore {
 public:
  virtual ~DrainStore() = default;

  // "outbox" or "kafka".
  static std::unique_ptr<DrainStore> make(const std::string& kind);

  // In this order; much faster than one by one.
  virtual void add(const std::vector<DeadLetter>& letters) = 0;
  void add(const DeadLetter& letter) { add(std::vector<DeadLetter>{letter}); }
  // Anything, under this monitor's key.
  virtual void add_record(const std::string& monitor, const std::string& record) = 0;
  // The same letter once more, as after a crash of whoever put it in.
  virtual void add_duplicate(const DeadLetter& letter) = 0;

  // What a process needs to open it.
  virtual std::vector<std::pair<std::string, std::string>> settings() const = 0;
  // With these servers of ZooKeeper, and short sessions.
  Settings settings_with(const std::string& servers) const;
  // As a new process would.
  std::unique_ptr<drain::LetterStore> open() const;
};

// One of each for all tests of a program, started when first asked for.
TestServer& shared_server();
TestBroker& shared_broker();

// Everything that a store shows, read in one go.
struct StoreContents {
  std::vector<drain::StoredLetter> letters;
  std::vector<drain::UnreadableLetter> unreadable;

  std::vector<std::string> ids() const;
  // Of one monitor, in their order.
  std::vector<std::string> ids_of(const std::string& monitor) const;
  const drain::StoredLetter& letter(const std::string& id) const;
};
StoreContents contents_of(drain::LetterStore& store, const drain::LetterFilter& filter = {});
StoreContents parked_in(drain::LetterStore& store);

}  // namespace forelock::test
