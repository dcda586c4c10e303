#include "workload/raw_load.h"

#include <zookeeper/zookeeper.h>

#include <condition_variable>
#include <limits>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "workload/raw_client.h"

namespace forelock::workload {
namespace {

constexpr RecordSizes sizes;

}  // namespace

// Many monitors over one handle; completions send what comes next.
class RawLoad::Pipeline {
 public:
  Pipeline(RawClient& client, RawKind kind)
      : handle_(client.handle()), acl_(client.acl()), kind_(kind), own_(sizes.own, 'x'), holder_(sizes.holder, 'y') {}

  JobResult run(const Job& job, const std::stop_token& stop) {
    std::vector<std::unique_ptr<Line>> lines;
    for (const std::string& monitor : job.monitors) {
      lines.push_back(std::make_unique<Line>());
      lines.back()->pipeline = this;
      if (job.fresh) lines.back()->fresh_prefix = "/" + monitor + "-";
      lines.back()->own_prefix = "/" + monitor + "/A-";
      lines.back()->lock_path = "/" + monitor + "/privateLock";
    }
    const auto begin = Clock::now();
    {
      const std::lock_guard guard(mutex_);
      left_ = job.sections > 0 ? job.sections : std::numeric_limits<std::size_t>::max();
      end_ = end_of(job, begin);
      stop_ = stop;
      running_ = lines.size();
      sections_.clear();
    }
    for (const auto& line : lines) claim(*line);
    std::unique_lock guard(mutex_);
    changed_.wait(guard, [this] { return running_ == 0; });
    if (failed_) throw std::runtime_error("a bare transaction failed");
    return {std::chrono::duration<double>(Clock::now() - begin).count(), std::move(sections_)};
  }

 private:
  struct Line {
    Pipeline* pipeline = nullptr;
    std::string own_prefix;
    std::string lock_path;
    std::string fresh_prefix;  // of nodes that are used once; empty: the same one each time
    std::size_t section = 0;
    char own_path[512] = {};
    ::Stat stat{};
    zoo_op_t operations[3];
    zoo_op_result_t results[3];
    Clock::time_point asked{};
  };

  void claim(Line& line) {
    {
      const std::lock_guard guard(mutex_);
      if (left_ == 0 || failed_ || Clock::now() >= end_ || stop_.stop_requested()) {
        --running_;
        changed_.notify_all();
        return;
      }
      --left_;
    }
    line.asked = Clock::now();
    if (kind_ == RawKind::create_delete) {
      if (!line.fresh_prefix.empty()) line.lock_path = line.fresh_prefix + std::to_string(line.section++);
      if (zoo_acreate(handle_, line.lock_path.c_str(), "", 0, &acl_, ZOO_PERSISTENT, &on_created, &line) != ZOK) {
        fail();
      }
      return;
    }
    zoo_create_op_init(&line.operations[0], line.own_prefix.c_str(), own_.data(), static_cast<int>(own_.size()), &acl_,
                       ZOO_EPHEMERAL_SEQUENTIAL, line.own_path, sizeof line.own_path);
    zoo_create_op_init(&line.operations[1], line.lock_path.c_str(), "", 0, &acl_, ZOO_EPHEMERAL, nullptr, 0);
    zoo_set_op_init(&line.operations[2], line.lock_path.c_str(), holder_.data(), static_cast<int>(holder_.size()), -1,
                    &line.stat);
    if (zoo_amulti(handle_, 3, line.operations, line.results, &on_claimed, &line) != ZOK) fail();
  }

  static void on_created(int code, const char*, const void* context) {
    Line& line = *static_cast<Line*>(const_cast<void*>(context));
    if (code != ZOK) return line.pipeline->fail();
    if (zoo_adelete(line.pipeline->handle_, line.lock_path.c_str(), -1, &on_released, &line) != ZOK) {
      line.pipeline->fail();
    }
  }

  static void on_claimed(int code, const void* context) {
    Line& line = *static_cast<Line*>(const_cast<void*>(context));
    if (code != ZOK) return line.pipeline->fail();
    zoo_delete_op_init(&line.operations[0], line.own_path, -1);
    zoo_delete_op_init(&line.operations[1], line.lock_path.c_str(), -1);
    if (zoo_amulti(line.pipeline->handle_, 2, line.operations, line.results, &on_released, &line) != ZOK) {
      line.pipeline->fail();
    }
  }

  static void on_released(int code, const void* context) {
    Line& line = *static_cast<Line*>(const_cast<void*>(context));
    if (code != ZOK) return line.pipeline->fail();
    {
      const std::lock_guard guard(line.pipeline->mutex_);
      const auto time = Clock::now() - line.asked;
      line.pipeline->sections_.push_back({time, time});
    }
    line.pipeline->claim(line);
  }

  void fail() {
    const std::lock_guard guard(mutex_);
    failed_ = true;
    running_ = 0;
    changed_.notify_all();
  }

  zhandle_t* const handle_;
  const ACL_vector& acl_;
  const RawKind kind_;
  const std::string own_;
  const std::string holder_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool failed_ = false;
  std::size_t left_ = 0;
  Clock::time_point end_{};
  std::stop_token stop_;
  std::size_t running_ = 0;
  std::vector<Section> sections_;
};

RawLoad::RawLoad(const std::string& servers, RawKind kind, const std::string& credential)
    : kind_(kind), client_(std::make_unique<RawClient>(servers, sizes, true, credential)) {}

RawLoad::~RawLoad() = default;

JobResult RawLoad::run(const Job& job, const std::stop_token& stop) {
  if (!job.fresh) {
    for (const std::string& monitor : job.monitors) {
      if (ensured_.insert(monitor).second) client_->ensure("/" + monitor);
    }
  }
  if (!job.async) return one_by_one(job, stop);
  if (!pipeline_) pipeline_ = std::make_unique<Pipeline>(*client_, kind_);
  return pipeline_->run(job, stop);
}

JobResult RawLoad::one_by_one(const Job& job, const std::stop_token& stop) {
  JobResult result;
  const auto begin = Clock::now();
  const auto end = end_of(job, begin);
  for (std::size_t i = 0; (job.sections == 0 || i < job.sections) && Clock::now() < end && !stop.stop_requested();
       ++i) {
    const std::string monitor =
        job.fresh ? "/" + job.monitors.front() + "-" + std::to_string(i) : "/" + job.monitors[i % job.monitors.size()];
    const auto asked = Clock::now();
    Clock::time_point held;
    if (kind_ == RawKind::create_delete) {
      const std::string node = job.fresh ? monitor : monitor + "/raw";
      client_->create(node);
      held = Clock::now();
      client_->remove(node);
    } else {
      job.fresh ? client_->claim_fresh(monitor) : client_->claim(monitor);
      held = Clock::now();
      client_->release();
    }
    result.sections.push_back({held - asked, Clock::now() - asked});
  }
  result.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return result;
}

}  // namespace forelock::workload
