#include "robustness/runner/unlock_records.h"

#include <nlohmann/json.hpp>

#include "records/wall_time.h"

namespace forelock::robustness {
namespace {

using Clock = HistoryEvent::Clock;

// By the clock of the history. What they write is cut to milliseconds, so it is not later than the record.
Clock::time_point time_of(const std::string& at) {
  const auto wall = records::parse_wall_time(at);
  if (!wall) return Clock::now();
  return Clock::now() - std::chrono::duration_cast<Clock::duration>(std::chrono::system_clock::now() - *wall);
}

// A session alone names the holder where it has no node.
bool names_node(const std::string& holder) {
  return holder.substr(0, holder.find('@')).find('-') != std::string::npos;
}

}  // namespace

UnlockRecords::UnlockRecords(std::filesystem::path file, FaultLog& log, Excuses& excuses)
    : file_(std::move(file)), log_(log), excuses_(excuses) {}

void UnlockRecords::read() {
  const std::lock_guard guard(mutex_);
  std::ifstream file(file_, std::ios::binary);
  if (!file.seekg(read_)) return;
  for (std::string line; std::getline(file, line) && !file.eof();) {  // the last line may not be complete yet
    read_ = file.tellg();
    take(line);
  }
}

void UnlockRecords::take(const std::string& line) {
  const auto json = nlohmann::json::parse(line, nullptr, false);
  if (!json.is_object() || json.value("action", "") != "unlock") return;
  const Act act{json.at("monitor"), json.at("holder")};
  const std::string who = json.at("by");
  const std::string result = json.at("result");
  if (result == "begun") {
    begin(who, act, json.at("at"));
  } else {
    end(who, act, result);
  }
}

void UnlockRecords::begin(const std::string& who, const Act& act, const std::string& at) {
  if (const auto earlier = open_.find(who); earlier != open_.end()) {
    problems_.push_back(who + " has not said what became of its act at " + earlier->second.act.monitor);
    excuse(who, earlier->second);
  }
  open_[who] = {act, time_of(at)};
  if (names_node(act.holder)) excuses_.removed(act.monitor, who + ' ' + act.holder);
}

void UnlockRecords::excuse(const std::string& who, const Begun& begun) {
  const Act& act = begun.act;
  if (!names_node(act.holder)) return;
  const std::string node = act.holder.substr(0, act.holder.find('@'));
  log_.end(log_.begin("overdue_deleted", act.monitor, node, begun.at), "overdue_deleted");
  excuses_.removed(act.monitor, who + ' ' + act.holder);
}

void UnlockRecords::end(const std::string& who, const Act& act, const std::string& result) {
  const auto begun = open_.find(who);
  if (begun == open_.end() || begun->second.act != act) {
    problems_.push_back(who + " has ended an act at " + act.monitor + " that it has not begun");
  } else {
    if (result == "released" || result == "unknown") {
      excuse(who, begun->second);
    } else {
      excuses_.not_removed(act.monitor, who + ' ' + act.holder);
    }
    open_.erase(begun);
  }
  if (result == "released" && !freed_.insert(act.monitor + ' ' + act.holder).second)
    problems_.push_back(act.holder + " of " + act.monitor + " was freed twice");
}

void UnlockRecords::finish() {
  const std::lock_guard guard(mutex_);
  for (const auto& [who, begun] : open_) excuse(who, begun);
}

std::size_t UnlockRecords::freed() const {
  const std::lock_guard guard(mutex_);
  return freed_.size();
}

std::vector<std::string> UnlockRecords::problems() const {
  const std::lock_guard guard(mutex_);
  return problems_;
}

}  // namespace forelock::robustness
