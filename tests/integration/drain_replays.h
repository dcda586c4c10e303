// Shared by the tests of replays: a store with a client, and a record of what happened.
#pragma once

#include "drain/replayer.h"
#include "integration/drain_stores.h"
#include "support/test.h"

namespace forelock::test {

// Remembers what it is told. Thread-safe.
class ReplayRecord final : public drain::ReplayObserver {
 public:
  void event(Event event, const drain::StoredLetter& letter, const std::string& message) override;

  // Ids, in the order of events.
  std::vector<std::string> ids(Event event) const;
  std::string message(const std::string& id) const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::pair<Event, std::string>> events_;
  std::map<std::string, std::string> messages_;  // the last of each id
};

// A target that remembers the ids it is given, and otherwise does as it is told by type: letters of type "poison" fail,
// those of type "later" are put off. Thread-safe; may be copied, the copies share what they remember.
class ExampleTarget {
 public:
  drain::TryResult operator()(const drain::StoredLetter& letter, WriteLock& lock, std::stop_token stop) const;
  // In the order in which they were begun.
  std::vector<std::string> ids() const;

 private:
  struct Shared {
    std::mutex mutex;
    std::vector<std::string> ids;
  };
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
};

DeadLetter letter_of_type(const std::string& type, const std::string& id, const std::string& monitor = "P1");

// A store of each kind, ZooKeeper, and a client in a namespace of its own.
class DrainReplayTest : public ::testing::TestWithParam<std::string> {
 protected:
  // As a new process would: with its own client and store.
  drain::ReplayReport replay(const drain::LetterTarget& target, const drain::ReplayOptions& options = {});
  StoreContents contents() { return contents_of(*given_->open()); }
  StoreContents parked() { return parked_in(*given_->open()); }
  Settings settings() const { return given_->settings_with(servers_); }

  std::unique_ptr<DrainStore> given_ = DrainStore::make(GetParam());
  const std::string servers_ = shared_server().connect_string() + "/replay-" + std::to_string(++namespaces_);
  ReplayRecord record_;
  ExampleTarget target_;

 private:
  inline static int namespaces_ = 0;
};

}  // namespace forelock::test
