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

LetterRestoring::LetterRestoring(const Console& console, Settings settings, drain::LetterStore& store,
                                 RestoringOrder order)
    : console_(console),
      store_(store),
      order_(std::move(order)),
      settings_(std::move(settings)),
      client_(settings_, log_to(console_)),
      lock_(client_, store_, order_.action) {
  audit("begun");
}

LetterRestoring::~LetterRestoring() {
  if (!finished_) audit("restored " + std::to_string(report_.restored) + "; then it failed");
}

bool LetterRestoring::letter(const drain::StoredLetter& letter) {
  try {
    ++(store_.restore(letter) ? report_.restored : report_.there_already);
  } catch (const RequestRejectedException& error) {
    ++report_.refused;
    console_.warn(printable(letter.letter.id + ": " + error.what()));
  }
  return true;
}

bool LetterRestoring::unreadable(const drain::UnreadableLetter&) {
  ++report_.unreadable;
  return true;
}

RestoringReport LetterRestoring::settle() {
  store_.settle();
  finished_ = true;
  audit("restored " + std::to_string(report_.restored));
  return report_;
}

int LetterRestoring::finish() {
  settle();
  if (!console_.text()) {
    console_.write_json({{"restored", report_.restored},
                         {"there_already", report_.there_already},
                         {"refused", report_.refused},
                         {"unreadable", report_.unreadable},
                         {"store", store_.describe()}});
    return exit_code();
  }
  std::string text = count_of_letters(report_.restored) + " put back into the " + store_.describe();
  if (report_.there_already > 0) text += "; " + base::counted(report_.there_already, "was", "were") + " there already";
  if (report_.refused > 0) text += "; " + base::counted(report_.refused, "was", "were") + " refused";
  if (report_.unreadable > 0)
    text += "; " +
            base::counted(report_.unreadable, "record cannot be read, and stays", "records cannot be read, and stay");
  console_.write(text + '\n');
  return exit_code();
}

int LetterRestoring::exit_code() const {
  return report_.refused > 0 ? exit_failed : exit_ok;
}

void LetterRestoring::audit(const std::string& result) const {
  audit_drain({order_.action, store_.describe(), lock_.token(), order_.which, result, order_.by, order_.reason},
              console_);
}

}  // namespace forelock::cli
