#include "cli/dlq/letter_restoring.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/counted.h"
#include "cli/audit.h"
#include "cli/connection.h"
#include "cli/dlq/letters_text.h"
#include "cli/exit_code.h"
#include "cli/output/console.h"
#include "forelock/error.h"

namespace forelock::cli {

LetterRestoring::LetterRestoring(const Context& context, drain::LetterStore& store, std::string action,
                                 std::string which)
    : console_(context.console),
      store_(store),
      action_(std::move(action)),
      which_(std::move(which)),
      settings_(context.globals.settings()),
      client_(settings_, log_to(console_)),
      lock_(client_, store_, action_) {
  audit("begun");
}

LetterRestoring::~LetterRestoring() {
  if (!finished_) audit("restored " + std::to_string(restored_) + "; then it failed");
}

bool LetterRestoring::letter(const drain::StoredLetter& letter) {
  try {
    ++(store_.restore(letter) ? restored_ : there_already_);
  } catch (const RequestRejectedException& error) {
    ++refused_;
    console_.warn(printable(letter.letter.id + ": " + error.what()));
  }
  return true;
}

bool LetterRestoring::unreadable(const drain::UnreadableLetter&) {
  ++unreadable_;
  return true;
}

int LetterRestoring::finish() {
  store_.settle();
  finished_ = true;
  audit("restored " + std::to_string(restored_));
  if (!console_.text()) {
    console_.write_json({{"restored", restored_},
                         {"there_already", there_already_},
                         {"refused", refused_},
                         {"unreadable", unreadable_},
                         {"store", store_.describe()}});
    return exit_code();
  }
  std::string text = count_of_letters(restored_) + " put back into the " + store_.describe();
  if (there_already_ > 0) text += "; " + base::counted(there_already_, "was", "were") + " there already";
  if (refused_ > 0) text += "; " + base::counted(refused_, "was", "were") + " refused";
  if (unreadable_ > 0)
    text += "; " + base::counted(unreadable_, "record cannot be read, and stays", "records cannot be read, and stay");
  console_.write(text + '\n');
  return exit_code();
}

int LetterRestoring::exit_code() const {
  return refused_ > 0 ? exit_failed : exit_ok;
}

void LetterRestoring::audit(const std::string& result) const {
  audit_drain({action_, store_.describe(), lock_.token(), which_, result}, console_);
}

}  // namespace forelock::cli
