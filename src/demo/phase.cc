#include "demo/phase.h"

#include <thread>

#include "demo/bulk_load.h"
#include "demo/interactive_load.h"

namespace forelock::demo {
namespace {

// What ZooKeeper shows to every client; nothing of it comes from the loads themselves.
void look(Inspector& inspector, std::vector<ArticleRow>& rows) {
  std::vector<MonitorSummary> monitors;
  try {
    monitors = inspector.list();
  } catch (const Error&) {
    return;  // the last picture stays: watching is not what is on trial here
  }
  for (ArticleRow& row : rows) row.seen = {};
  for (const MonitorSummary& monitor : monitors) {
    for (ArticleRow& row : rows) {
      if (row.name == monitor.monitor) row.seen = monitor;
    }
  }
}

Frame take_frame(const Site& site, const WaitLog& log, const std::string& title, Clock::duration elapsed,
                 std::vector<ArticleRow> rows) {
  Frame frame{title,
              elapsed,
              site.options.duration,
              std::move(rows),
              log.summary(Kind::interactive),
              log.summary(Kind::bulk),
              site.store.verdict()};
  for (std::size_t article = 0; article < frame.articles.size(); ++article) {
    frame.articles[article].recent = log.recent(article);
  }
  return frame;
}

}  // namespace

PhaseResult run_phase(Site& site, Inspector& inspector, View& view, const std::string& title,
                      Priority interactive_class, bool (*interrupted)()) {
  WaitLog log(site.options.articles);
  std::vector<ArticleRow> rows(site.options.articles);
  for (std::size_t article = 0; article < rows.size(); ++article) rows[article].name = Site::monitor(article);

  const auto begin = Clock::now();
  {
    const BulkLoad bulk(site, log);
    const InteractiveLoad interactive(site, log, interactive_class);  // ends first, while the bulk work goes on
    for (auto next = begin; Clock::now() - begin < site.options.duration && !interrupted();) {
      look(inspector, rows);
      view.show(take_frame(site, log, title, Clock::now() - begin, rows));
      next += view.interval();
      std::this_thread::sleep_until(next);
    }
  }
  view.finish(take_frame(site, log, title, site.options.duration, rows));
  return {log.summary(Kind::interactive), log.summary(Kind::bulk), log.failures(), log.last_failure()};
}

}  // namespace forelock::demo
