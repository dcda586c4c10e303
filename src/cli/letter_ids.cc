#include "cli/letter_ids.h"

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

[[noreturn]] void throw_ambiguous(const Meaning& meaning) {
  std::string message = "several dead letters begin with '" + meaning.text + "':";
  std::size_t named = 0;
  for (const std::string& id : meaning.letters) {
    message += named++ == most_named ? ", …" : (named == 1 ? " " : ", ") + id;
  }
  throw FailureException({exit_usage, "ambiguous_id", message, "give more of it", {}, false, {}});
}

}  // namespace

void complete_ids(drain::LetterStore& store, std::vector<std::string>& ids) {
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
    if (meaning.letters.size() > 1) throw_ambiguous(meaning);
    std::replace(ids.begin(), ids.end(), meaning.text, *meaning.letters.begin());
  }
}

}  // namespace forelock::cli
