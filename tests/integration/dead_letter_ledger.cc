#include "integration/dead_letter_ledger.h"

#include "integration/dead_letters.h"
#include "support/text_of.h"

namespace forelock::test {
namespace {

// Only whole lines: the process may have died in the middle of one.
template <class Visitor>
void for_each_line(const std::filesystem::path& journal, Visitor&& visit) {
  const std::string text = text_of(journal);
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    visit(text.substr(begin, end - begin));
  }
}

}  // namespace

DeadLetterLedger::DeadLetterLedger(std::filesystem::path directory, std::filesystem::path outbox)
    : directory_(std::move(directory)), outbox_(std::move(outbox)) {}

std::filesystem::path DeadLetterLedger::new_journal() {
  return journals_.emplace_back(directory_ / ("journal-" + std::to_string(++made_)));
}

bool DeadLetterLedger::done(const std::filesystem::path& journal) {
  bool done = false;
  for_each_line(journal, [&](const std::string& line) { done = done || line == "done"; });
  return done;
}

std::vector<std::string> DeadLetterLedger::check(const std::string& bootstrap, const std::vector<std::string>& topics) {
  std::vector<std::string> problems;
  read_journals();
  read_outbox(problems);
  read_topics(bootstrap, topics, problems);
  for (const std::string& id : accepted_) {
    if (!waiting_.contains(id) && !delivered_.contains(id)) problems.push_back("lost: " + id);
  }
  for (const std::string& id : waiting_) {
    if (!begun_.contains(id)) problems.push_back("in the outbox and not from here: " + id);
  }
  for (const auto& [id, record] : delivered_) {
    if (!begun_.contains(id)) problems.push_back("in a topic and not from here: " + id);
  }
  return problems;
}

std::size_t DeadLetterLedger::unconfirmed() const {
  std::size_t count = 0;
  for (const std::string& id : begun_) {
    if (!accepted_.contains(id) && (waiting_.contains(id) || delivered_.contains(id))) ++count;
  }
  return count;
}

void DeadLetterLedger::read_journals() {
  for (const auto& journal : std::exchange(journals_, {})) {
    for_each_line(journal, [&](const std::string& line) {
      const auto space = line.find(' ');
      const std::string what = line.substr(0, space);
      if (what == "begun") begun_.insert(line.substr(space + 1));
      if (what == "accepted") accepted_.insert(line.substr(space + 1));
    });
  }
}

void DeadLetterLedger::read_outbox(std::vector<std::string>& problems) {
  waiting_.clear();
  for (const std::string& id : ids_in(outbox_)) {
    if (!waiting_.insert(id).second) problems.push_back("twice in the outbox: " + id);
  }
  for (const auto& file : std::filesystem::directory_iterator(outbox_.parent_path())) {
    const std::string name = file.path().filename().string();
    if (name.find(".damaged") != std::string::npos) problems.push_back("the outbox was damaged: " + name);
  }
}

void DeadLetterLedger::read_topics(const std::string& bootstrap, const std::vector<std::string>& topics,
                                   std::vector<std::string>& problems) {
  for (const std::string& topic : topics) {
    for (const TopicRecord& record : read_topic(bootstrap, topic, next_offset_[topic])) {
      next_offset_[topic] = record.offset + 1;
      const auto [known, first] = delivered_.emplace(record.id(), record.value);
      if (first) continue;
      ++duplicates_;
      if (known->second != record.value) problems.push_back("two different records: " + record.id());
    }
  }
}

}  // namespace forelock::test
