// Prints letters of all kinds, one a line, for the check against docs/dead-letter.schema.json.
#include "letter/letter_json.h"
#include "letter/letter_limits.h"
#include "sample_letter.h"

int main() {
  using forelock::DeadLetter;
  using forelock::test::sample_letter;
  std::vector<DeadLetter> letters(5, sample_letter());
  letters[1].traceparent.clear();
  letters[1].payload.clear();
  letters[1].lock_info.clear();
  letters[1].replay_count = 0;
  letters[2].reason = "out_of_patience";
  letters[2].priority = forelock::Priority::foreground;
  letters[3].payload = std::string("\x00\xFF\n\"", 4);
  letters[3].monitor =
      "Stra\xC3\x9F"
      "e \xF0\x9F\x94\x92 \x01";
  letters[4].payload.assign(forelock::letter::max_payload_bytes, 'x');
  letters[4].type.assign(forelock::letter::max_type_bytes, 't');
  letters[4].monitor.assign(forelock::letter::max_monitor_bytes, 'm');
  letters[4].lock_info.assign(10'000, '\n');
  letters[4].client.host.assign(10'000, 'h');
  letters[4].attempts.assign(forelock::letter::max_attempts, letters[0].attempts[1]);
  letters[4].attempts.back().message.assign(10'000, '\xFF');
  letters[4].attempts.back().waited = std::chrono::milliseconds(-5);
  for (const DeadLetter& letter : letters) std::cout << forelock::letter::to_json(letter) << '\n';
}
