#include "cli/serve/history/history.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/thread_start.h"
#include "cli/output/json_output.h"
#include "cli/serve/history/history_json.h"
#include "records/wall_time.h"

namespace forelock::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t most_jobs = 64;
constexpr std::size_t most_pictures = 8;  // as jobs: a picture may be large
constexpr std::size_t most_resumed = 100'000;
constexpr std::size_t most_pending = 200'000;
constexpr std::chrono::milliseconds between_writes{1000};
constexpr std::chrono::milliseconds between_tries{2000};
constexpr int ids_per_second_bits = 20;

}  // namespace

History::History(std::filesystem::path path, const HistoryLimits& limits, Tell tell)
    : path_(std::move(path)), limits_(limits), tell_(std::move(tell)) {}

History::~History() {
  stop();
}

void History::start() {
  thread_ = base::start_thread("forelock-past", [this] { work(); });
}

bool History::post(Job job, std::size_t most) {
  const std::lock_guard guard(mutex_);
  if (stop_ || jobs_.size() >= most) return false;
  jobs_.push_back(std::move(job));
  changed_.notify_all();
  return true;
}

// One that is left out costs what has begun and ended between its neighbours.
void History::take(std::shared_ptr<const Picture> picture) {
  post(
      [this, picture = std::move(picture)] {
        resumed_ = true;
        std::vector<Stay> changes = tracker_.take(*picture);
        pending_.insert(pending_.end(), std::make_move_iterator(changes.begin()),
                        std::make_move_iterator(changes.end()));
      },
      most_pictures);
}

void History::explain_end(const std::string& monitor, const HolderView& holder, const std::string& outcome,
                          const std::string& reason) {
  post(
      [this, monitor, holder, outcome, reason] {
        if (auto stay = tracker_.explain_end(monitor, holder, outcome, reason)) pending_.push_back(*std::move(stay));
      },
      most_jobs);
}

bool History::ask(HistoryQuestion question, std::function<void(web::Response)> answer) {
  return post(
      [this, question = std::move(question), answer = std::move(answer)] {
        if (file_ && !pending_.empty()) write();
        answer(this->answer(question));
      },
      most_jobs);
}

void History::begin_stop() {
  const std::lock_guard guard(mutex_);
  stop_ = true;
  changed_.notify_all();
}

void History::stop() {
  begin_stop();
  if (thread_.joinable()) thread_.join();
}

void History::work() {
  reopen();
  std::unique_lock guard(mutex_);
  while (true) {
    changed_.wait_for(guard, between_writes, [this] { return stop_ || !jobs_.empty(); });
    const bool last = stop_;
    std::deque<Job> jobs = std::exchange(jobs_, {});
    guard.unlock();
    for (const Job& job : jobs) job();
    if (!file_ && Clock::now() >= next_try_) reopen();
    if (file_ && (last || pending_.size() > most_pending || Clock::now() >= next_write_)) write();
    if (pending_.size() > most_pending) {
      lost_ += pending_.size();
      pending_.clear();
    }
    guard.lock();
    if (last) return;
  }
}

void History::reopen() {
  next_try_ = Clock::now() + between_tries;
  try {
    file_.emplace(path_, limits_);
    tracker_.number_from(file_->next_id());
    std::vector<Stay> left = file_->open(most_resumed);
    const WallTime now = records::wall_time_now();
    const WallTime last = std::min(file_->last_look().value_or(now), now);  // the clock may have been put back
    if (!resumed_) {
      tracker_.resume(left, last);
    } else {
      // The ends of these could not be written, nor what lasts and has begun meanwhile.
      tracker_.adopt(left);
      std::erase_if(pending_, [](const Stay& stay) { return !stay.to; });
      std::vector<Stay> lasts = tracker_.open();
      std::set<std::int64_t> lasting;
      for (const Stay& stay : lasts) lasting.insert(stay.id);
      std::erase_if(left, [&](const Stay& stay) { return lasting.contains(stay.id); });
      for (Stay& stay : left) {
        stay.to = std::max(stay.from, std::exchange(stay.unseen_since, std::nullopt).value_or(last));
        stay.outcome = "unseen";
      }
      left.insert(left.end(), std::make_move_iterator(lasts.begin()), std::make_move_iterator(lasts.end()));
      pending_.insert(pending_.begin(), std::make_move_iterator(left.begin()), std::make_move_iterator(left.end()));
    }
    resumed_ = true;
    write();
  } catch (const std::exception& problem) {
    has_failed(problem.what());
  }
}

void History::write() {
  next_write_ = Clock::now() + between_writes;
  try {
    file_->write(pending_, tracker_.watched(), clock_.now(records::wall_time_now(), Clock::now()));
    written_ += pending_.size();
    pending_.clear();
    writable_ = true;
    if (!std::exchange(problem_, {}).empty()) tell_({});
  } catch (const std::exception& problem) {
    has_failed(problem.what());
  }
}

void History::has_failed(const std::string& problem) {
  lost_ += pending_.size();
  pending_.clear();
  file_.reset();
  writable_ = false;
  // Ids that neither the file has, which was perhaps never read, nor another process that writes into it meanwhile.
  const auto now = std::chrono::floor<std::chrono::seconds>(records::wall_time_now().time_since_epoch());
  tracker_.number_from(std::int64_t{now.count()} << ids_per_second_bits);
  next_try_ = Clock::now() + between_tries;
  if (std::exchange(problem_, problem) != problem) tell_(problem);
}

web::Response History::answer(const HistoryQuestion& question) {
  try {
    if (file_) {
      return {200, "application/json",
              json_text(question.at ? moment_json(*file_, question) : span_json(*file_, question)) + '\n', false};
    }
  } catch (const std::exception& problem) {
    has_failed(problem.what());
  }
  return {503, "application/json",
          json_text({{"error", {{"code", "history_unavailable"}, {"message", problem_}}}}) + '\n', false};
}

}  // namespace forelock::cli
