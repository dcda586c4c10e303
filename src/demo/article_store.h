// The articles: a resource that does not trust its lock, and keeps account of how well the lock does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace forelock::demo {

// What the articles saw.
struct StoreVerdict {
  std::uint64_t begun = 0;         // changes begun
  std::uint64_t finished = 0;      // changes finished
  std::uint64_t overlaps = 0;      // changes begun while another one of the same article was going on
  std::uint64_t stale_tokens = 0;  // changes begun with a fencing token not above all earlier ones of the article
  std::uint64_t lost = 0;          // finished changes that are missing from the articles' revision numbers

  bool clean() const { return begun == finished && overlaps == 0 && stale_tokens == 0 && lost == 0; }
};

// Thread-safe. Its own mutex protects the account only, never a change as a whole: that is the lock's business.
class ArticleStore {
 public:
  // A change that is going on.
  struct Change {
    std::size_t article = 0;
    std::uint64_t revision = 0;  // as it was read at the beginning
  };

  explicit ArticleStore(std::size_t articles) : articles_(articles) {}

  // Begins a change: reads the article. What is against the rules is counted, not prevented.
  Change begin(std::size_t article, std::int64_t fencing_token);
  // Ends it: writes the next revision, blindly. Two overlapping changes lose one of them here, as in real life.
  void finish(const Change& change);

  StoreVerdict verdict() const;

 private:
  struct Article {
    std::uint64_t inside = 0;
    std::int64_t highest_token = 0;
    std::uint64_t revision = 0;
  };

  mutable std::mutex mutex_;
  std::vector<Article> articles_;
  StoreVerdict counts_;
};

}  // namespace forelock::demo
