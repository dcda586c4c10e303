#include "demo/article_store.h"

namespace forelock::demo {

ArticleStore::Change ArticleStore::begin(std::size_t article, std::int64_t fencing_token) {
  const std::lock_guard guard(mutex_);
  Article& it = articles_.at(article);
  ++counts_.begun;
  if (it.inside++ > 0) ++counts_.overlaps;
  if (fencing_token <= it.highest_token) {
    ++counts_.stale_tokens;
  } else {
    it.highest_token = fencing_token;
  }
  return {article, it.revision};
}

void ArticleStore::finish(const Change& change) {
  const std::lock_guard guard(mutex_);
  Article& it = articles_.at(change.article);
  ++counts_.finished;
  --it.inside;
  it.revision = change.revision + 1;
}

StoreVerdict ArticleStore::verdict() const {
  const std::lock_guard guard(mutex_);
  StoreVerdict verdict = counts_;
  std::uint64_t revisions = 0;
  for (const Article& article : articles_) revisions += article.revision;
  verdict.lost = verdict.finished - revisions;
  return verdict;
}

}  // namespace forelock::demo
