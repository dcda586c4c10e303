#include "drain/read_letter.h"

#include <utility>

#include "forelock/error.h"
#include "letter/letter_json.h"

namespace forelock::drain {

LetterOrNot read_letter(std::string position, std::string key, std::string record) {
  try {
    StoredLetter stored;
    stored.letter = letter::from_json(record);
    stored.position = std::move(position);
    stored.record = std::move(record);
    return stored;
  } catch (const Error& problem) {
    return UnreadableLetter{std::move(position), std::move(key), std::string(name_of(problem.code())), problem.what(),
                            std::move(record)};
  }
}

bool visit_letter(const LetterOrNot& read, const LetterFilter& filter, LetterVisitor& visitor) {
  if (const auto* letter = std::get_if<StoredLetter>(&read)) {
    return !filter.matches(letter->letter) || visitor.letter(*letter);
  }
  const auto& unreadable = std::get<UnreadableLetter>(read);
  return !filter.matches(unreadable) || visitor.unreadable(unreadable);
}

}  // namespace forelock::drain
