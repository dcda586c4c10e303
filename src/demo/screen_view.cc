#include "demo/screen_view.h"

#include <iostream>

#include "demo/text.h"

namespace forelock::demo {
namespace {

std::string totals(const char* name, const WaitSummary& waits) {
  return left(name, 12) + right(std::to_string(waits.granted), 6) + " locks    waited p50 " +
         right(in_ms(waits.p50), 5) + " ms   p99 " + right(in_ms(waits.p99), 5) + " ms   longest " +
         right(in_ms(waits.longest), 5) + " ms";
}

}  // namespace

ScreenView::ScreenView(Style style) : style_(style) {
  std::cout << "\033[?25l" << std::flush;
}

ScreenView::~ScreenView() {
  std::cout << "\033[?25h" << std::flush;
}

std::string ScreenView::row(const ArticleRow& article) const {
  std::string holder = style_.dim(left("free", 28));
  std::string since = right("", 8);
  std::size_t foreground = 0;
  std::size_t background = 0;
  if (article.seen) {
    foreground = article.seen->waiting_foreground;
    background = article.seen->waiting_background;
    if (article.seen->holder) {
      // What the holder says it is for tells the kinds of work apart in both phases; its class does so only in one.
      const auto& owner = article.seen->holder->owner;
      const std::string info = owner ? owner->lock_info : "(no record)";
      const bool interactive = info == "Save Content";
      const std::string text = left(std::string(interactive ? "interactive  " : "bulk  ") + info, 28);
      holder = interactive ? style_.interactive(text) : style_.bulk(text);
      since = right(in_ms(article.seen->holder->held) + " ms", 8);
    }
  }
  std::string recent;
  for (const Clock::duration wait : article.recent) recent += right(in_ms(wait), 5);
  const std::string waiting_foreground = right(std::to_string(foreground), 5);
  return left(article.name, 5) + holder + since +
         (foreground > 0 ? style_.interactive(waiting_foreground) : style_.dim(waiting_foreground)) +
         right(std::to_string(background), 5) + style_.interactive(recent);
}

void ScreenView::show(const Frame& frame) {
  std::vector<std::string> lines;
  const std::string clock = in_seconds(frame.elapsed) + " s of " + in_seconds(frame.total) + " s";
  lines.push_back(style_.bold(left(frame.title, 60)) + right(clock, 20));
  lines.push_back("");
  lines.push_back(style_.dim("                                         waiting in    last interactive"));
  lines.push_back(style_.dim("     held by                       for    fg   bg    waits, ms, new ones right"));
  for (const ArticleRow& article : frame.articles) lines.push_back(row(article));
  lines.push_back("");
  lines.push_back(style_.interactive(totals("interactive", frame.interactive)));
  lines.push_back(style_.bulk(totals("bulk", frame.bulk)));
  const bool clean = frame.store.overlaps + frame.store.stale_tokens == 0;
  const std::string verdict = left("articles", 12) + right(std::to_string(frame.store.begun), 6) + " changes, " +
                              std::to_string(frame.store.overlaps) + " overlaps, " +
                              std::to_string(frame.store.stale_tokens) + " stale tokens";
  lines.push_back(clean ? verdict : style_.bad(verdict));

  std::string out;
  if (drawn_ > 0) out += "\033[" + std::to_string(drawn_) + "A";
  for (const std::string& line : lines) out += "\r" + line + "\033[K\n";
  drawn_ = lines.size();
  std::cout << out << std::flush;
}

void ScreenView::finish(const Frame& frame) {
  show(frame);
  std::cout << std::endl;
  drawn_ = 0;
}

}  // namespace forelock::demo
