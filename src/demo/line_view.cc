#include "demo/line_view.h"

#include <iostream>

#include "demo/text.h"

namespace forelock::demo {

void LineView::show(const Frame& frame) {
  std::size_t foreground = 0;
  std::size_t background = 0;
  for (const ArticleRow& article : frame.articles) {
    if (!article.seen) continue;
    foreground += article.seen->waiting_foreground;
    background += article.seen->waiting_background;
  }
  if (frame.elapsed < interval() / 2) std::cout << frame.title << '\n';
  std::cout << right(in_seconds(frame.elapsed), 6) << " s  waiting: " << right(std::to_string(foreground), 3)
            << " foreground " << right(std::to_string(background), 3)
            << " background  interactive: " << right(std::to_string(frame.interactive.granted), 4) << " locks, p50 "
            << right(in_ms(frame.interactive.p50), 4) << " ms  bulk: " << right(std::to_string(frame.bulk.granted), 5)
            << " locks, p50 " << right(in_ms(frame.bulk.p50), 4) << " ms" << std::endl;
}

void LineView::finish(const Frame& frame) {
  std::cout << "        " << frame.store.begun << " changes, " << frame.store.overlaps << " overlaps, "
            << frame.store.stale_tokens << " stale tokens so far\n"
            << std::endl;
}

}  // namespace forelock::demo
