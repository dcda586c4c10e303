#include "cli/letter_lookup.h"

#include "cli/exit_code.h"
#include "cli/failure.h"
#include "cli/letter_ids.h"

namespace forelock::cli {
namespace {

class FirstUnreadable final : public drain::LetterVisitor {
 public:
  bool letter(const drain::StoredLetter& /*letter*/) override { return true; }
  bool unreadable(const drain::UnreadableLetter& letter) override {
    found = letter;
    return false;
  }
  std::optional<drain::UnreadableLetter> found;
};

// "17" or "2/17": nothing else is worth a search through everything.
bool is_position(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789/") == std::string::npos;
}

std::optional<FoundLetter> by_beginning(drain::LetterStore& store, const std::string& beginning) {
  std::vector<std::string> ids = {beginning};
  complete_ids(store, ids);
  if (ids.front() == beginning) return std::nullopt;
  auto letter = store.find(ids.front());
  if (!letter) return std::nullopt;  // resolved a moment ago
  return FoundLetter(std::move(*letter));
}

}  // namespace

std::optional<FoundLetter> look_up(drain::LetterStore& store, const std::string& id) {
  if (auto letter = store.find(id)) return FoundLetter(std::move(*letter));
  if (!is_position(id)) return by_beginning(store, id);
  for (const bool parked : {false, true}) {
    drain::LetterFilter filter;
    filter.ids = {id};
    filter.parked = parked;
    FirstUnreadable first;
    store.scan(filter, first);
    if (first.found) return FoundLetter(std::move(*first.found));
  }
  return by_beginning(store, id);
}

void throw_unknown_letter(const drain::LetterStore& store, const std::string& id) {
  throw FailureException({exit_failed,
                          "unknown_letter",
                          "there is no dead letter '" + id + "' in the " + store.describe() +
                              ": it was replayed or purged, or it is in another queue",
                          "forelock dlq list; forelock dlq list --outbox",
                          {},
                          false,
                          {}});
}

}  // namespace forelock::cli
