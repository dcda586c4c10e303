#include "demo/bulk_load.h"

#include <random>
#include <stop_token>

#include "forelock/blocking_write_lock.h"

namespace forelock::demo {
namespace {

void change_article(Site& site, WaitLog& log, std::size_t worker, std::size_t article) {
  const auto asked = Clock::now();
  try {
    BlockingWriteLock lock(site.client(worker), "Bulk propagation", Site::monitor(article), Priority::background);
    lock.lock_with_timeout();
    log.granted(Kind::bulk, article, Clock::now() - asked);
    const auto change = site.store.begin(article, lock.fencing_token());
    std::this_thread::sleep_for(site.options.bulk_work);
    site.store.finish(change);
    lock.unlock_or_throw();
  } catch (const InstanceLockException&) {
    log.timed_out(Kind::bulk);  // bulk work has time: the next round is its retry
  } catch (const Error& error) {
    log.failed(error.what());
  }
}

void work(const std::stop_token& stop, Site& site, WaitLog& log, std::size_t worker) {
  std::mt19937 random(static_cast<std::mt19937::result_type>(worker));
  std::uniform_int_distribution<std::size_t> any_article(0, site.options.articles - 1);
  while (!stop.stop_requested()) change_article(site, log, worker, any_article(random));
}

}  // namespace

BulkLoad::BulkLoad(Site& site, WaitLog& log) {
  for (std::size_t worker = 0; worker < site.options.workers; ++worker) {
    workers_.emplace_back([&site, &log, worker](const std::stop_token& stop) { work(stop, site, log, worker); });
  }
}

BulkLoad::~BulkLoad() {
  // All are told before the first is joined: one after the other would cost a bulk wait each.
  for (std::jthread& worker : workers_) worker.request_stop();
}

}  // namespace forelock::demo
