// A Collector follows a namespace: by watches, and by looks at what changes too often for them (look/watch_plan.h).
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <unordered_set>
#include <utility>
#include <vector>

#include "cli/monitors/paces.h"
#include "cli/serve/lock_orders.h"
#include "cli/serve/look/namespace_image.h"
#include "cli/serve/look/watch_plan.h"
#include "cli/serve/picture.h"
#include "client/watch_observer.h"
#include "forelock/client.h"
#include "web/site.h"

namespace forelock::client {
class RequestPipeline;
}

namespace forelock::cli {

class Collector final : private client::WatchObserver {
 public:
  // Called on its thread. `events`: what has changed since the picture before.
  using Take = std::function<void(std::shared_ptr<const Picture> picture, std::vector<web::Event> events)>;
  // Why there is no new picture.
  using Fail = std::function<void(std::string problem)>;

  // The client must outlive it.
  Collector(Client& client, std::chrono::milliseconds patience, Take take, Fail fail);
  // As stop().
  ~Collector();
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;

  void start();
  // Nothing is asked for any more; what is under way ends soon once the client is closed. Does not wait.
  void begin_stop();
  // Waits for the end of its thread; idempotent.
  void stop();
  const LookCounts& counts() const { return counts_; }

 private:
  using Time = WatchPlan::Time;

  // --- client::WatchObserver ---
  void on_watch(const coordination::WatchEvent& event) override;
  void on_session(std::int64_t session) override;

  void work();
  // What has been told meanwhile.
  void take_news();
  // One batch of reads, and a proof that this is the present, if one is due.
  void read();
  void read_root(client::RequestPipeline& pipeline, const WatchPlan::Listing& listing);
  // Takes those away that have been answered.
  void read_monitors(client::RequestPipeline& pipeline, std::vector<WatchPlan::Listing>& listings);
  void read_nodes(client::RequestPipeline& pipeline, std::vector<NamespaceImage::Reading>& readings,
                  const std::vector<bool>& watch);
  // \returns whether that is new.
  bool may_not_read(const std::string& name, const std::string& why);
  void may_read(const std::string& name);
  std::shared_ptr<const Unreadable> unreadable();
  std::vector<coordination::Reply> ask(client::RequestPipeline& pipeline, std::vector<coordination::Request> requests);
  void show();
  std::shared_ptr<const Picture> picture(const std::set<std::string>& changed);
  // Those of the changed monitors' orders that another read confirms.
  void take_orders(const Sightings& monitors, const std::set<std::string>& changed, WallTime wall);

  Client& client_;
  const std::chrono::milliseconds patience_;
  const Take take_;
  const Fail fail_;
  LookCounts counts_;

  // Of its thread.
  WatchPlan plan_;
  NamespaceImage image_;
  Unreadable refused_;  // by the names of their nodes
  std::shared_ptr<const Unreadable> unreadable_;
  bool has_root_ = false;                       // it has been listed since the last failure
  std::pair<std::int64_t, std::int32_t> root_;  // which it is, and its children's version
  struct {
    Time read{};
    Time proof{};
    Time picture{};
  } next_;
  std::optional<Time> proved_;  // all that was done before is known, or known to be old
  bool proof_is_new_ = false;
  Paces paces_;
  LockOrders orders_;
  std::shared_ptr<const std::vector<OrderWarning>> warnings_;
  bool in_doubt_ = false;  // an order could not be confirmed, and may be seen again
  std::set<std::string> changed_;
  std::shared_ptr<const Picture> last_;

  std::mutex mutex_;
  std::condition_variable news_;
  std::unordered_set<std::string> fired_;  // names of nodes
  std::int64_t session_ = 0;
  bool new_session_ = false;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace forelock::cli
