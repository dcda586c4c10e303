// People save articles while bulk work rewrites the same ones all the time: first with the two classes of locks, then,
// under the same load, in one first-come-first-served queue. The articles do not trust their locks: they keep account
// of every change, and the program ends with 0 only if no rule was broken.
//
// interactive_and_bulk [--config FILE] [--seconds N]; needs a ZooKeeper: `forelock dev -- interactive_and_bulk`.

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "forelock/forelock.h"

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using forelock::Priority;

constexpr std::size_t article_count = 4, session_count = 3, worker_count = 24, people_count = 40;
constexpr auto bulk_work = 20ms, save_work = 5ms;
constexpr double seconds_between_saves = 1;  // of one person, on average

enum Kind { interactive, bulk };
constexpr std::array<const char*, 2> purpose = {"Save Content", "Bulk propagation"};
constexpr std::array<const char*, 2> colour = {"\033[36m", "\033[33m"};

std::string article_name(std::size_t article) {
  return "P" + std::to_string(article + 1);
}

long in_ms(Clock::duration duration) {
  return static_cast<long>(std::chrono::round<std::chrono::milliseconds>(duration).count());
}

// How long one kind of work waited for its locks.
struct Waits {
  std::vector<Clock::duration> granted;
  std::size_t timed_out = 0;

  // The shortest wait that is not exceeded by this many of a hundred.
  long percentile(std::size_t percent) const {
    if (granted.empty()) return 0;
    std::vector<Clock::duration> sorted = granted;
    std::sort(sorted.begin(), sorted.end());
    return in_ms(sorted[(sorted.size() * percent + 99) / 100 - 1]);
  }
};

// The articles, and what was seen at them. Thread-safe; its mutex protects the account, never a change as a whole: that
// is the lock's business.
class Articles {
 public:
  struct Change {
    std::size_t article;
    long revision;  // as it was read when the change began
  };

  Change begin(Kind kind, std::size_t article, std::int64_t token, Clock::duration waited) {
    const std::lock_guard guard(mutex_);
    waits_[kind].granted.push_back(waited);
    Article& it = articles_[article];
    if (kind == interactive) it.recent.push_back(waited);
    if (it.recent.size() > 6) it.recent.pop_front();
    ++changes_;
    if (it.inside++ > 0) ++overlaps_;
    if (token <= it.token) ++stale_tokens_;
    it.token = token;
    return {article, it.revision};
  }
  // Writes the next revision blindly: two changes at once lose one of them here, as in real life.
  void finish(const Change& change) {
    const std::lock_guard guard(mutex_);
    Article& it = articles_[change.article];
    --it.inside;
    it.revision = change.revision + 1;
  }
  void timed_out(Kind kind) {
    const std::lock_guard guard(mutex_);
    ++waits_[kind].timed_out;
  }
  void failed(const std::string& reason) {
    const std::lock_guard guard(mutex_);
    ++failures_;
    last_failure_ = reason;
  }
  // The waits since the last call.
  std::array<Waits, 2> take_waits() {
    const std::lock_guard guard(mutex_);
    return std::exchange(waits_, {});
  }

  void show(const std::string& title, forelock::Inspector& inspector, bool redraw, bool again) const;
  bool verdict() const;

 private:
  struct Article {
    int inside = 0;
    std::int64_t token = 0;
    long revision = 0;
    std::deque<Clock::duration> recent;  // waits of the last interactive saves
  };

  mutable std::mutex mutex_;
  std::array<Article, article_count> articles_;
  std::array<Waits, 2> waits_;
  long changes_ = 0, overlaps_ = 0, stale_tokens_ = 0;
  std::size_t failures_ = 0;
  std::string last_failure_;
};

// Of every article who holds it and how many wait, as every client of this ZooKeeper can see it; then how long each
// kind of work has waited so far.
void Articles::show(const std::string& title, forelock::Inspector& inspector, bool redraw, bool again) const {
  std::map<std::string, forelock::MonitorSummary> seen;
  for (forelock::MonitorSummary& monitor : inspector.list()) seen[monitor.monitor] = std::move(monitor);
  const std::lock_guard guard(mutex_);
  const char* const end = redraw ? "\033[m\033[K\n" : "\n";
  if (redraw && again) std::printf("\033[%zuA", article_count + 6);
  if (redraw || !again) std::printf("%s%s%s", title.c_str(), end, end);
  if (redraw) std::printf("     held by                         for    fg   bg   last interactive waits, ms%s", end);
  for (std::size_t i = 0; redraw && i < article_count; ++i) {
    const forelock::MonitorSummary& monitor = seen[article_name(i)];
    const bool held = monitor.holder && monitor.holder->owner;
    const std::string holder = held ? monitor.holder->owner->lock_info : "free";
    const long held_for = monitor.holder ? static_cast<long>(monitor.holder->held.count()) : 0;
    std::printf("%s%-5s%-26s%6ld ms%6zu%5zu  ", holder == purpose[interactive] ? colour[interactive] : colour[bulk],
                article_name(i).c_str(), holder.c_str(), held_for, monitor.waiting_foreground,
                monitor.waiting_background);
    for (const auto wait : articles_[i].recent) std::printf("%5ld", in_ms(wait));
    std::printf("%s", end);
  }
  if (redraw) std::printf("%s", end);
  for (const Kind kind : {interactive, bulk}) {
    const Waits& waits = waits_[kind];
    std::printf("%s%-18s%6zu locks, waited p50%5ld ms, p99%5ld ms, longest%5ld ms%s", redraw ? colour[kind] : "",
                purpose[kind], waits.granted.size(), waits.percentile(50), waits.percentile(99), waits.percentile(100),
                end);
  }
  std::fflush(stdout);
}

bool Articles::verdict() const {
  const std::lock_guard guard(mutex_);
  long revisions = 0;
  for (const Article& article : articles_) revisions += article.revision;
  std::printf("\nThe articles saw %ld changes, %ld overlaps, %ld lost changes, %ld stale fencing tokens\n", changes_,
              overlaps_, changes_ - revisions, stale_tokens_);
  if (failures_ > 0) std::printf("%zu locks failed; the last: %s\n", failures_, last_failure_.c_str());
  return changes_ > 0 && overlaps_ == 0 && changes_ == revisions && stale_tokens_ == 0 && failures_ == 0;
}

// What this example is about: the lock around a change.
void change_article(forelock::Client& client, Articles& articles, Kind kind, Priority priority, std::size_t article) {
  try {
    const auto asked = Clock::now();
    forelock::BlockingWriteLock lock(client, purpose[kind], article_name(article), priority);
    lock.lock_with_timeout();
    const auto change = articles.begin(kind, article, lock.fencing_token(), Clock::now() - asked);
    std::this_thread::sleep_for(kind == bulk ? bulk_work : save_work);
    articles.finish(change);
    lock.unlock_or_throw();
  } catch (const forelock::InstanceLockException&) {
    articles.timed_out(kind);  // bulk work has time: its next round is its retry
  } catch (const forelock::Error& error) {
    articles.failed(error.what());
  }
}

using Clients = std::vector<std::unique_ptr<forelock::Client>>;

// Both loads at once; `priority` is the class of the interactive saves. Ends when all of the work has ended.
std::array<Waits, 2> run_phase(const Clients& clients, Articles& articles, forelock::Inspector& inspector,
                               const std::string& title, Priority priority, std::chrono::seconds duration,
                               bool redraw) {
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < worker_count + people_count; ++i) {
    const Kind kind = i < worker_count ? bulk : interactive;
    threads.emplace_back([&, i, kind](const std::stop_token& stop) {
      std::mt19937 random(static_cast<unsigned>(i));
      std::uniform_int_distribution<std::size_t> any_article(0, article_count - 1);
      std::exponential_distribution<double> pause(1 / seconds_between_saves);
      while (!stop.stop_requested()) {
        if (kind == interactive) std::this_thread::sleep_for(std::chrono::duration<double>(pause(random)));
        change_article(*clients[i % clients.size()], articles, kind, kind == bulk ? Priority::background : priority,
                       any_article(random));
      }
    });
  }
  const auto begun = Clock::now();
  for (auto next = begun; next - begun < duration; next += redraw ? 125ms : 2s) {
    std::this_thread::sleep_until(next);
    try {
      articles.show(title, inspector, redraw, next != begun);
    } catch (const forelock::Error&) {  // the last picture stays: looking is not on trial here
    }
  }
  for (std::jthread& thread : threads) thread.request_stop();  // all, before the first is joined
  threads.clear();
  std::puts("");
  return articles.take_waits();
}

void table_row(const char* name, const Waits& waits) {
  std::printf("  %-34s%8zu%8ld%8ld%9ld%11zu\n", name, waits.granted.size(), waits.percentile(50), waits.percentile(99),
              waits.percentile(100), waits.timed_out);
}

int run(const std::string& config, std::chrono::seconds duration) {
  std::vector<forelock::Settings::Override> overrides;
  if (const char* servers = std::getenv("FORELOCK_ZOOKEEPER")) {
    overrides.push_back({"zookeeper.servers", servers, "$FORELOCK_ZOOKEEPER"});
  }
  const auto settings = config.empty() ? forelock::Settings::from_string("", forelock::Settings::Format::properties,
                                                                         "defaults", overrides)
                                       : forelock::Settings::load(config, overrides);
  Clients clients;  // a session each, as if on as many machines
  for (std::size_t i = 0; i < session_count; ++i) clients.push_back(std::make_unique<forelock::Client>(settings));
  forelock::Client observer(settings);
  if (!observer.wait_connected(10s)) {
    std::cerr << "no ZooKeeper answers: " << observer.last_problem()
              << "\nGive its address in $FORELOCK_ZOOKEEPER, or run this under `forelock dev --`.\n";
    return 69;
  }
  winsize size{};
  const bool redraw = isatty(STDOUT_FILENO) == 1 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 80;
  forelock::Inspector inspector(observer);
  Articles articles;
  const auto classes = run_phase(clients, articles, inspector, "1. Two classes: foreground before background",
                                 Priority::foreground, duration, redraw);
  const auto one_queue = run_phase(clients, articles, inspector, "2. For comparison: the same load in one queue",
                                   Priority::background, duration, redraw);

  std::printf(
      "How long work waited for its locks, in milliseconds\n\n"
      "                                       locks     p50     p99  longest  timed out\n");
  for (const Kind kind : {interactive, bulk}) {
    std::puts(kind == interactive ? "interactive saves" : "bulk propagation");
    table_row("foreground before background", classes[kind]);
    table_row("one queue, first come first served", one_queue[kind]);
  }
  const bool faster = classes[interactive].percentile(50) < one_queue[interactive].percentile(50);
  const bool served = !classes[interactive].granted.empty() && classes[interactive].timed_out == 0;
  if (!faster || !served) std::puts("\nFAILED: interactive saves did not go before bulk work");
  return articles.verdict() && faster && served ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  std::string config;
  long seconds = 10;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::string(argv[i]) == "--config") config = argv[i + 1];
    if (std::string(argv[i]) == "--seconds") seconds = std::strtol(argv[i + 1], nullptr, 10);
  }
  if (argc % 2 == 0 || seconds < 1 || seconds > 3600) {
    std::cerr << "usage: interactive_and_bulk [--config FILE] [--seconds N]\n";
    return 64;
  }
  try {
    return run(config, std::chrono::seconds(seconds));
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
