// A process that uses an outbox, to be killed or to have its disk fail: outbox_worker PATH STEP…
//
// Steps: add:ID, remove:ID, park:ID, try:ID; add:PREFIX*N adds N letters PREFIX0, PREFIX1, …; wait: until a line can be
// read from standard input. After each step a line on standard output says how it ended: "done STEP", "failed STEP:
// MESSAGE" (it was not done), or "unknown STEP: MESSAGE". Log lines of the outbox begin with "log ". Exits with 0 if it
// got to the end.
#include <unistd.h>

#include <array>

#include "forelock/error.h"
#include "outbox/outbox.h"
#include "sample_letter.h"

namespace {

using forelock::outbox::Outbox;
using forelock::outbox::Row;
using forelock::outbox::RowRef;
using forelock::outbox::RowState;

void say(const std::string& line) {
  std::cout << line << std::endl;  // NOLINT: at once, whatever comes next
}

// Nothing happened, so far as the outbox can know; or it says that it cannot.
std::string_view ending(const forelock::Error& error) {
  return std::string_view(error.what()).find("not known") == std::string_view::npos ? "failed " : "unknown ";
}

RowRef row_of(const Outbox& outbox, const std::string& id) {
  const std::optional<Row> row = outbox.find(id);
  return row ? row->ref() : RowRef{-1, 0};
}

void run(Outbox& outbox, const std::string& action, const std::string& id) {
  if (action == "add") {
    outbox.add(forelock::test::sample_letter(id, "payload of " + id));
  } else if (action == "remove") {
    outbox.remove(std::array{row_of(outbox, id)});
  } else if (action == "park") {
    outbox.set_state(row_of(outbox, id), RowState::parked);
  } else if (action == "try") {
    outbox.count_try(row_of(outbox, id));
  } else {
    std::abort();
  }
}

void step(Outbox& outbox, const std::string& text) {
  if (text == "wait") {
    say("waiting");
    std::string line;
    std::getline(std::cin, line);
    return;
  }
  const std::string action = text.substr(0, text.find(':'));
  const std::string id = text.substr(text.find(':') + 1);
  const std::size_t star = id.find('*');
  const int times = star == std::string::npos ? 1 : std::stoi(id.substr(star + 1));
  for (int i = 0; i < times; ++i) {
    const std::string one = star == std::string::npos ? id : id.substr(0, star) + std::to_string(i);
    try {
      run(outbox, action, one);
      say("done " + action + ':' + one);
    } catch (const forelock::Error& error) {
      say(std::string(ending(error)) + action + ':' + one + ": " + error.what());
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  try {
    Outbox outbox({.path = argv[1], .log = [](std::string_view level, std::string_view message) {
                     say("log " + std::string(level) + ": " + std::string(message));
                   }});
    say("done open");
    for (int i = 2; i < argc; ++i) step(outbox, argv[i]);
  } catch (const forelock::Error& error) {
    say(std::string(ending(error)) + "open: " + error.what());
    return 1;
  }
  return 0;
}
