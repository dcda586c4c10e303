#include "cli/serve/collector.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/thread_start.h"
#include "cli/existing_namespace.h"
#include "cli/serve/look/locks_of_threads.h"
#include "cli/serve/picture_changes.h"
#include "client/client_core.h"
#include "client/reply_error.h"
#include "client/request_pipeline.h"
#include "forelock/error.h"
#include "lock/child_name.h"
#include "lock/monitor_name.h"
#include "records/wall_time.h"
#include "zookeeper/zookeeper_session.h"

namespace forelock::cli {
namespace {

using coordination::Get;
using coordination::List;
using coordination::Reply;
using coordination::ReplyCode;
using coordination::Request;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds between_proofs{1000};
constexpr milliseconds after_failure{500};
constexpr milliseconds fresh_for{3000};
// A row that has not been read for so long is old.
constexpr milliseconds stale_after{3000};
// If more rows than these are old the whole picture is.
constexpr std::size_t most_stale = 500;
// Of one batch: between two of them news are taken, and the present is proved.
constexpr std::size_t most_listings = 1000;
// Reads take at most a quarter of the time; but nothing waits for longer than this.
constexpr int rest_after_reads = 3;
constexpr milliseconds longest_rest{300};
// A picture is made again after this many times what it has taken.
constexpr int times_its_length = 4;
constexpr milliseconds shortest_pause{50};
constexpr milliseconds longest_pause{700};

// What is watched at a time. With Debian's client no more than it can register again in one request.
std::size_t room_for_watches() {
  constexpr std::size_t one_request = std::size_t{1024} * 1024;
  constexpr std::size_t many = std::size_t{64} * 1024 * 1024;
  const std::size_t most = zookeeper::most_watched_bytes();
  return most > one_request ? many : most / 2;
}

WatchPlanOptions plan_options() {
  WatchPlanOptions options;
  options.watched_bytes = room_for_watches();
  return options;
}

// The node of the namespace that such a path is, or is below of; empty for its root.
std::string node_of(const std::string& path) {
  return path.size() < 2 ? std::string() : path.substr(1, path.find('/', 1) - 1);
}

}  // namespace

Collector::Collector(Client& client, milliseconds patience, Take take, Fail fail)
    : client_(client),
      patience_(patience),
      take_(std::move(take)),
      fail_(std::move(fail)),
      plan_(plan_options()),
      image_(client.settings()) {}

Collector::~Collector() {
  stop();
}

void Collector::start() {
  client_.core()->ensemble().tell_also(this);
  thread_ = base::start_thread("forelock-look", [this] { work(); });
}

void Collector::begin_stop() {
  const std::lock_guard guard(mutex_);
  stop_ = true;
  news_.notify_all();
}

void Collector::stop() {
  begin_stop();
  client_.core()->ensemble().tell_also(nullptr);  // also where the thread could not be started
  if (thread_.joinable()) thread_.join();
}

void Collector::on_watch(const coordination::WatchEvent& event) {
  ++counts_.events;
  const std::lock_guard guard(mutex_);
  fired_.insert(node_of(event.path));
  news_.notify_all();
}

void Collector::on_session(std::int64_t session) {
  const std::lock_guard guard(mutex_);
  if (std::exchange(session_, session) == session) return;
  new_session_ = true;
  news_.notify_all();
}

void Collector::work() {
  std::unique_lock guard(mutex_);
  while (!stop_) {
    guard.unlock();
    take_news();
    Time again = Time::max();
    try {
      read();
      take_news();
      show();
    } catch (const std::exception& problem) {
      fail_(problem.what());  // and soon again: what was in vain has waited, and not worked
      again = Clock::now() + after_failure;
    }
    if (again == Time::max()) {
      const bool shows = plan_.complete() && (proof_is_new_ || !changed_.empty());
      again = std::min(std::max(plan_.due(), next_.read), next_.proof);
      if (shows) again = std::min(again, next_.picture);
    }
    guard.lock();
    news_.wait_until(guard, again, [this] { return stop_ || new_session_ || !fired_.empty(); });
  }
}

void Collector::take_news() {
  std::unordered_set<std::string> fired;
  bool new_session = false;
  {
    const std::lock_guard guard(mutex_);
    fired = std::exchange(fired_, {});
    new_session = std::exchange(new_session_, false);
  }
  const Time now = Clock::now();
  if (new_session) {
    plan_.session_begins(now);
    image_.read_all_anew();
  }
  for (const std::string& name : fired) plan_.changed(name, now);
  if (proved_) plan_.proved(*proved_);
}

std::vector<Reply> Collector::ask(client::RequestPipeline& pipeline, std::vector<Request> requests) {
  counts_.requests += requests.size();
  return pipeline.ask(std::move(requests));
}

void Collector::read() {
  const Time now = Clock::now();
  std::vector<WatchPlan::Listing> listings;
  if (now >= next_.read) listings = plan_.next(now, most_listings);
  const bool proof = now >= next_.proof;
  if (listings.empty() && !proof) return;
  try {
    const auto deadline = now + patience_;
    client::EnsembleLink& ensemble = client_.core()->ensemble();
    client::connected_or_throw(ensemble, deadline);
    client::RequestPipeline pipeline(ensemble, deadline);
    const auto root = std::find_if(listings.begin(), listings.end(), [](const auto& one) { return one.name.empty(); });
    if (root != listings.end()) {
      read_root(pipeline, *root);
      listings.erase(root);
    }
    // Before its answer the watches have told of all that the leader had decided when it was asked.
    const Time asked = Clock::now();
    if (proof) {
      ++counts_.requests;
      const Reply synced = pipeline.ask(coordination::Sync{"/"});
      counts_.syncs.add(Clock::now() - asked);
      if (!synced.ok()) client::throw_reply_error(synced.code, {}, "cannot see what the leader has decided");
      if (!has_root_) require_namespace(client_);
    }
    read_monitors(pipeline, listings);
    if (!proof) return;
    proved_ = asked;  // and for the plan once the news before its answer are taken
    proof_is_new_ = true;
    next_.proof = asked + between_proofs;
  } catch (...) {
    for (const WatchPlan::Listing& listing : listings) plan_.failed(listing, Clock::now());
    throw;
  }
}

void Collector::read_root(client::RequestPipeline& pipeline, const WatchPlan::Listing& listing) {
  const Time begin = Clock::now();
  ++counts_.requests;
  Reply root = pipeline.ask(List{"/", listing.watch});
  counts_.lists.add(Clock::now() - begin);
  has_root_ = root.ok();
  if (root.code == ReplyCode::no_node) {
    require_namespace(client_);  // throws, unless it has just been made
    return plan_.failed(listing, Clock::now());
  }
  if (!root.ok()) client::throw_reply_error(root.code, {}, "cannot list the namespace");
  std::erase_if(root.children, [](const std::string& name) {
    return name == "zookeeper" || name.starts_with(lock::reserved_start);  // the server's own, and ours
  });
  const Time now = Clock::now();
  const bool news =
      std::exchange(root_, {root.stat.czxid, root.stat.cversion}) != std::pair(root.stat.czxid, root.stat.cversion);
  plan_.listed(listing, news, now, now - begin);
  plan_.set_names(root.children, now);
  image_.keep(root.children);
  const std::set<std::string> there(root.children.begin(), root.children.end());
  std::vector<std::string> gone;
  for (const auto& [name, why] : refused_) {
    if (!there.contains(name)) gone.push_back(name);
  }
  for (const std::string& name : gone) may_read(name);
}

void Collector::read_monitors(client::RequestPipeline& pipeline, std::vector<WatchPlan::Listing>& listings) {
  if (listings.empty()) return;
  const Time begin = Clock::now();
  std::vector<Request> requests;
  requests.reserve(listings.size());
  for (const WatchPlan::Listing& listing : listings) requests.emplace_back(List{'/' + listing.name, listing.watch});
  std::vector<Reply> replies = ask(pipeline, std::move(requests));

  for (std::size_t i = 0; i < listings.size(); ++i) {
    const ReplyCode code = replies[i].code;
    if (!replies[i].ok() && code != ReplyCode::no_node && code != ReplyCode::no_auth)
      client::throw_reply_error(code, lock::decode_monitor_name(listings[i].name), "cannot list a monitor");
  }

  std::vector<WatchPlan::Listing> read;
  std::vector<NamespaceImage::Reading> readings;
  std::vector<bool> watch;
  for (std::size_t i = 0; i < listings.size(); ++i) {
    const WatchPlan::Listing& listing = listings[i];
    if (replies[i].code == ReplyCode::no_node) {
      image_.forget(listing.name);
      may_read(listing.name);
      plan_.gone(listing);
      continue;
    }
    if (!replies[i].ok()) {
      may_not_read(listing.name, "its ACL does not let these credentials list it");
      plan_.refused(listing, Clock::now());
      continue;
    }
    read.push_back(listing);
    watch.push_back(listing.watch);
    readings.push_back(image_.begin(listing.name, std::move(replies[i])));
  }
  const std::size_t count = listings.size();
  listings = read;  // the others are answered
  read_nodes(pipeline, readings, watch);
  const Time now = Clock::now();
  const auto took = (now - begin) / static_cast<std::int64_t>(count);
  const WallTime wall = records::wall_time_now();
  for (std::size_t i = 0; i < read.size(); ++i) {
    const std::string closed = NamespaceImage::closed_node(readings[i]);
    bool news = false;
    if (closed.empty()) {
      may_read(read[i].name);
      news = image_.end(std::move(readings[i]), wall);
    } else {
      news = may_not_read(read[i].name, "the ACL of its " + closed + " does not let these credentials read it");
    }
    plan_.listed(read[i], news, now, took);
  }
  listings.clear();
  // The first time nobody sees anything before it is all there.
  if (last_) next_.read = now + std::min<Clock::duration>((now - begin) * rest_after_reads, longest_rest);
}

bool Collector::may_not_read(const std::string& name, const std::string& why) {
  image_.forget(name);
  const auto [place, is_new] = refused_.try_emplace(name, why);
  if (!is_new && std::exchange(place->second, why) == why) return false;
  changed_.insert(lock::decode_monitor_name(name));
  unreadable_ = nullptr;
  return true;
}

void Collector::may_read(const std::string& name) {
  if (refused_.erase(name) == 0) return;
  changed_.insert(lock::decode_monitor_name(name));
  unreadable_ = nullptr;
}

std::shared_ptr<const Unreadable> Collector::unreadable() {
  if (unreadable_) return unreadable_;
  Unreadable all;
  for (const auto& [name, why] : refused_) all.emplace(lock::decode_monitor_name(name), why);
  unreadable_ = std::make_shared<const Unreadable>(std::move(all));
  return unreadable_;
}

void Collector::read_nodes(client::RequestPipeline& pipeline, std::vector<NamespaceImage::Reading>& readings,
                           const std::vector<bool>& watch) {
  const auto read = [&](bool locks_again) {
    std::vector<Request> requests;
    std::vector<std::pair<NamespaceImage::Reading*, std::size_t>> places;
    for (std::size_t i = 0; i < readings.size(); ++i) {
      NamespaceImage::Reading& reading = readings[i];
      for (std::size_t j = 0; j < reading.wanted.size(); ++j) {
        const bool is_lock = reading.wanted[j] == lock::private_lock_name;
        if (locks_again && !(is_lock && watch[i] && NamespaceImage::wants_watch(reading.nodes[j]))) continue;
        requests.emplace_back(Get{'/' + reading.name + '/' + reading.wanted[j], locks_again});
        places.emplace_back(&reading, j);
      }
      reading.nodes.resize(reading.wanted.size());
    }
    if (requests.empty()) return;
    std::vector<Reply> replies = ask(pipeline, std::move(requests));
    for (std::size_t i = 0; i < replies.size(); ++i) {
      const auto& [reading, place] = places[i];
      const ReplyCode code = replies[i].code;
      if (!replies[i].ok() && code != ReplyCode::no_node && code != ReplyCode::no_auth)
        client::throw_reply_error(code, lock::decode_monitor_name(reading->name), "cannot read a record");
      reading->nodes[place] = std::move(replies[i]);
    }
  };
  read(false);
  read(true);
}

void Collector::show() {
  changed_.merge(image_.take_changed());
  if (!plan_.complete() && !last_) return;
  if (!proved_ || (!proof_is_new_ && changed_.empty()) || Clock::now() < next_.picture) return;
  const Time begin = Clock::now();
  const std::shared_ptr<const Picture> picture = this->picture(changed_);
  std::vector<web::Event> events = last_ ? changes_between(*last_, *picture) : std::vector<web::Event>();
  changed_.clear();  // not before: a picture that could not be made has told nobody
  last_ = picture;
  proof_is_new_ = false;
  take_(picture, std::move(events));
  const auto pause = std::chrono::ceil<milliseconds>((Clock::now() - begin) * times_its_length);
  next_.picture = Clock::now() + std::clamp(pause, shortest_pause, longest_pause);
}

std::shared_ptr<const Picture> Collector::picture(const std::set<std::string>& changed) {
  Picture::Parts parts;
  parts.sightings = image_.sightings();
  parts.unreadable = unreadable();
  parts.begun = *proved_;
  parts.wall = records::wall_time_now();
  parts.fresh_for = fresh_for;
  parts.number = last_ ? last_->number() + 1 : 1;
  parts.look.watched = plan_.watched();
  parts.look.sampled = plan_.sampled();
  for (const auto& [name, known] : plan_.older_than(*proved_ - stale_after)) {
    const std::string id = lock::decode_monitor_name(name);
    if (parts.look.stale.size() < most_stale) {
      parts.look.stale.push_back({id, known});
    } else {
      parts.begun = std::min(parts.begun, known);
    }
  }
  parts.paces = paces_.take(*parts.sightings, Clock::now());  // several pictures may have one proof
  if (!changed.empty() || in_doubt_ || !warnings_) {
    take_orders(*parts.sightings, changed, parts.wall);
    warnings_ = std::make_shared<const std::vector<OrderWarning>>(orders_.warnings());
  }
  parts.warnings = warnings_;
  if (last_) parts.changed = changed;
  return std::make_shared<const Picture>(std::move(parts));
}

void Collector::take_orders(const Sightings& monitors, const std::set<std::string>& changed, WallTime wall) {
  const bool all = in_doubt_ || !last_;
  const std::vector<MonitorView> theirs = locks_of_threads(monitors, all ? nullptr : &changed, wall);
  Inspector inspector(client_, patience_);
  in_doubt_ = false;
  try {
    for (const LockOrders::Doubt& doubt : orders_.take(theirs, wall)) {
      ++counts_.requests;
      const auto holder = inspector.holder(doubt.monitor);
      if (holder && holder->token == doubt.token) orders_.confirm(doubt);
    }
    in_doubt_ = orders_.has_left_out();
  } catch (const Error&) {
    in_doubt_ = true;  // what is not confirmed is not believed, and may be seen again
  }
}

}  // namespace forelock::cli
