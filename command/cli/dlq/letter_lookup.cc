#include "cli/dlq/letter_lookup.h"

#include <algorithm>
#include <set>

#include "cli/exit_code.h"
#include "cli/failure.h"

namespace forelock::cli {
namespace {

constexpr std::size_t uuid_length = 36;
constexpr std::size_t most_named = 3;

bool may_be_a_beginning(const std::string& text) {
  return text.size() >= shortest_beginning && text.size() != uuid_length;
}

// Which letters a text may mean.
struct Meaning {
  std::string text;
  bool whole = false;             // it is an id, or a position
  std::set<std::string> letters;  // that begin so, no more than are named
};

class Reading final : public drain::LetterVisitor {
 public:
  explicit Reading(std::vector<Meaning>& meanings) : meanings_(meanings) {}

  bool letter(const drain::StoredLetter& letter) override {
    const std::string& id = letter.letter.id;
    for (Meaning& meaning : meanings_) {
      if (id == meaning.text) meaning.whole = true;
      if (id.starts_with(meaning.text) && meaning.letters.size() <= most_named) meaning.letters.insert(id);
    }
    return true;
  }
  bool unreadable(const drain::UnreadableLetter& letter) override {
    for (Meaning& meaning : meanings_) meaning.whole = meaning.whole || letter.position == meaning.text;
    return true;
  }

 private:
  std::vector<Meaning>& meanings_;
};

std::string names_of(const std::set<std::string>& letters) {
  std::string text;
  std::size_t named = 0;
  for (const std::string& id : letters) {
    text += named++ == most_named ? ", …" : (named == 1 ? "" : ", ") + id;
  }
  return text;
}

[[noreturn]] void throw_ambiguous(const Meaning& meaning) {
  const std::string message = "several dead letters begin with '" + meaning.text + "': " + names_of(meaning.letters);
  throw FailureException({exit_usage, "ambiguous_id", message, "give more of it", {}, false, {}});
}

[[noreturn]] void throw_only_a_beginning(const drain::LetterStore& store, const Meaning& meaning) {
  throw FailureException({exit_failed,
                          "unknown_letter",
                          "nothing was done: there is no dead letter '" + meaning.text + "' in the " +
                              store.describe() + ", and what begins so is another: " + names_of(meaning.letters),
                          "to change the queue, name whole ids",
                          {},
                          false,
                          {}});
}

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
  complete_ids(store, ids, Purpose::look);
  if (ids.front() == beginning) return std::nullopt;
  auto letter = store.find(ids.front());
  if (!letter) return std::nullopt;  // resolved a moment ago
  return FoundLetter(std::move(*letter));
}

}  // namespace

void complete_ids(drain::LetterStore& store, std::vector<std::string>& ids, Purpose purpose) {
  std::vector<Meaning> meanings;
  for (const std::string& id : ids) {
    if (may_be_a_beginning(id)) meanings.push_back({id, false, {}});
  }
  if (meanings.empty()) return;
  for (const bool parked : {false, true}) {
    drain::LetterFilter all;
    all.parked = parked;
    Reading reading(meanings);
    store.scan(all, reading);
  }
  for (const Meaning& meaning : meanings) {
    if (meaning.whole || meaning.letters.empty()) continue;
    if (purpose == Purpose::change) throw_only_a_beginning(store, meaning);
    if (meaning.letters.size() > 1) throw_ambiguous(meaning);
    std::replace(ids.begin(), ids.end(), meaning.text, *meaning.letters.begin());
  }
}

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
