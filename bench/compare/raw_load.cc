#include "bench/compare/raw_load.h"

#include <zookeeper/zookeeper.h>

#include <condition_variable>
#include <limits>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "bench/raw_client.h"

namespace forelock::bench {
namespace {

constexpr int session_timeout_ms = 40'000;
constexpr RecordSizes sizes;

}  // namespace

// Many monitors over one handle; completions send what comes next.
class RawLoad::Pipeline {
 public:
  Pipeline(const std::string& servers, RawKind kind) : kind_(kind), own_(sizes.own, 'x'), holder_(sizes.holder, 'y') {
    zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
    handle_ = zookeeper_init(servers.c_str(), &on_session, session_timeout_ms, nullptr, this, 0);
    if (handle_ == nullptr) throw std::runtime_error("zookeeper_init failed");
    zoo_set_servers_resolution_delay(handle_, -1);
    std::unique_lock guard(mutex_);
    if (!changed_.wait_for(guard, std::chrono::seconds(30), [this] { return connected_; })) {
      throw std::runtime_error("the C client does not connect to " + servers);
    }
  }
  ~Pipeline() { zookeeper_close(handle_); }

  JobResult run(const Job& job) {
    std::vector<std::unique_ptr<Line>> lines;
    for (const std::string& monitor : job.monitors) {
      lines.push_back(std::make_unique<Line>());
      lines.back()->pipeline = this;
      lines.back()->own_prefix = "/" + monitor + "/A-";
      lines.back()->lock_path = "/" + monitor + "/privateLock";
    }
    const auto begin = Clock::now();
    {
      const std::lock_guard guard(mutex_);
      left_ = job.sections > 0 ? job.sections : std::numeric_limits<std::size_t>::max();
      end_ = end_of(job, begin);
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
    char own_path[512] = {};
    ::Stat stat{};
    zoo_op_t operations[3];
    zoo_op_result_t results[3];
    Clock::time_point asked{};
  };

  static void on_session(zhandle_t*, int type, int state, const char*, void* context) {
    if (type != ZOO_SESSION_EVENT || state != ZOO_CONNECTED_STATE) return;
    auto& self = *static_cast<Pipeline*>(context);
    const std::lock_guard guard(self.mutex_);
    self.connected_ = true;
    self.changed_.notify_all();
  }

  void claim(Line& line) {
    {
      const std::lock_guard guard(mutex_);
      if (left_ == 0 || failed_ || Clock::now() >= end_) {
        --running_;
        changed_.notify_all();
        return;
      }
      --left_;
    }
    line.asked = Clock::now();
    if (kind_ == RawKind::create_delete) {
      if (zoo_acreate(handle_, line.lock_path.c_str(), "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_PERSISTENT, &on_created,
                      &line) != ZOK) {
        fail();
      }
      return;
    }
    zoo_create_op_init(&line.operations[0], line.own_prefix.c_str(), own_.data(), static_cast<int>(own_.size()),
                       &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL_SEQUENTIAL, line.own_path, sizeof line.own_path);
    zoo_create_op_init(&line.operations[1], line.lock_path.c_str(), "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL, nullptr,
                       0);
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

  const RawKind kind_;
  const std::string own_;
  const std::string holder_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool connected_ = false;
  bool failed_ = false;
  std::size_t left_ = 0;
  Clock::time_point end_{};
  std::size_t running_ = 0;
  std::vector<Section> sections_;
  zhandle_t* handle_ = nullptr;
};

RawLoad::RawLoad(const std::string& servers, RawKind kind)
    : servers_(servers), kind_(kind), client_(std::make_unique<RawClient>(servers)) {}

RawLoad::~RawLoad() = default;

JobResult RawLoad::run(const Job& job) {
  if (!job.fresh) {
    for (const std::string& monitor : job.monitors) {
      if (ensured_.insert(monitor).second) client_->ensure("/" + monitor);
    }
  }
  if (!job.async) return one_by_one(job);
  if (!pipeline_) pipeline_ = std::make_unique<Pipeline>(servers_, kind_);
  return pipeline_->run(job);
}

JobResult RawLoad::one_by_one(const Job& job) {
  JobResult result;
  const auto begin = Clock::now();
  const auto end = end_of(job, begin);
  for (std::size_t i = 0; (job.sections == 0 || i < job.sections) && Clock::now() < end; ++i) {
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

}  // namespace forelock::bench
