// A ledger of every letter that workers have had in their hands, and of its fate.
#pragma once

#include "support/standard.h"

namespace forelock::test {

// Compares the workers' journals with the outbox and the topics. Not thread-safe.
class DeadLetterLedger {
 public:
  // Journals are made in `directory`.
  DeadLetterLedger(std::filesystem::path directory, std::filesystem::path outbox);

  // A file for one worker.
  std::filesystem::path new_journal();
  // Whether its worker has no more letters to hand over.
  static bool done(const std::filesystem::path& journal);

  // Reads all there is to read; no worker runs meanwhile. \returns what is wrong: a letter that was accepted and is
  // neither in the outbox nor in a topic, one that nobody has handed over, a damaged outbox, two different records with
  // one id.
  std::vector<std::string> check(const std::string& bootstrap, const std::vector<std::string>& topics);

  // As of the last check.
  std::size_t begun() const { return begun_.size(); }
  std::size_t accepted() const { return accepted_.size(); }
  std::size_t in_topics() const { return delivered_.size(); }
  std::size_t in_outbox() const { return waiting_.size(); }
  // Letters that were not confirmed to their process, and were taken over all the same.
  std::size_t unconfirmed() const;
  std::uint64_t duplicates() const { return duplicates_; }

 private:
  void read_journals();
  void read_outbox(std::vector<std::string>& problems);
  void read_topics(const std::string& bootstrap, const std::vector<std::string>& topics,
                   std::vector<std::string>& problems);

  const std::filesystem::path directory_;
  const std::filesystem::path outbox_;
  std::vector<std::filesystem::path> journals_;  // not read yet
  int made_ = 0;
  std::set<std::string> begun_;
  std::set<std::string> accepted_;
  std::set<std::string> waiting_;
  std::map<std::string, std::string> delivered_;  // record by id
  std::map<std::string, std::int64_t> next_offset_;
  std::uint64_t duplicates_ = 0;
};

}  // namespace forelock::test
