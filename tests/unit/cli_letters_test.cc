#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <clocale>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/dlq/letters_json.h"
#include "cli/dlq/letters_text.h"
#include "cli/dlq/result_stream.h"
#include "cli/hints.h"
#include "cli/output/quantity_text.h"
#include "cli/process/signal_relay.h"
#include "records/wall_time.h"

namespace forelock::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

WallTime at(const std::string& text) {
  return records::parse_wall_time(text).value();
}

TEST(CliInstant, IsAnInstantOrAnAge) {
  const WallTime now = at("2025-11-21T03:00:00Z");
  const auto text_of = [now](const char* text) {
    const auto instant = parse_instant(text, now);
    return instant ? records::format_wall_time(*instant) : "none";
  };
  EXPECT_EQ(text_of("2025-11-20T01:02:03.5+01:00"), "2025-11-20T00:02:03.500Z");
  EXPECT_EQ(text_of("90s"), "2025-11-21T02:58:30.000Z");
  EXPECT_EQ(text_of("15m"), "2025-11-21T02:45:00.000Z");
  EXPECT_EQ(text_of("2h"), "2025-11-21T01:00:00.000Z");
  EXPECT_EQ(text_of("3d"), "2025-11-18T03:00:00.000Z");
  for (const char* text : {"", "h", "2", "2w", "-2h", "2.5h", "2 h", "999999d", "99999999999999999999s", "tomorrow"})
    EXPECT_EQ(text_of(text), "none") << text;
}

TEST(CliSize, HasThreeDigitsOrSo) {
  EXPECT_EQ(size_text(0), "0 bytes");
  EXPECT_EQ(size_text(1), "1 byte");
  EXPECT_EQ(size_text(1023), "1023 bytes");
  EXPECT_EQ(size_text(1024), "1 KiB");
  EXPECT_EQ(size_text(12'600), "12.3 KiB");
  EXPECT_EQ(size_text(256U * 1024 * 1024), "256 MiB");
  EXPECT_EQ(size_text(5ULL * 1024 * 1024 * 1024 * 1024), "5 TiB");
}

TEST(CliHints, WordsAreQuotedWhereAShellWouldTakeThemApart) {
  EXPECT_EQ(shell_quoted("a-b_c/d.e:1"), "a-b_c/d.e:1");
  EXPECT_EQ(shell_quoted(""), "''");
  EXPECT_EQ(shell_quoted("it's $HOME"), "'it'\\''s $HOME'");
  EXPECT_EQ(dead_letter_hint("-x"), "forelock dlq show -- -x");
}

drain::StoredLetter stored(const std::string& id, const std::string& reason) {
  drain::StoredLetter stored;
  stored.position = "7";
  stored.letter.id = id;
  stored.letter.type = "save";
  stored.letter.monitor = "P1";
  stored.letter.reason = reason;
  stored.letter.payload = "secret";
  stored.letter.attempts = {{1, at("2025-11-21T02:00:00Z"), reason, "a message that\nhas lines", milliseconds(2000)}};
  stored.letter.failed_at = at("2025-11-21T02:00:00Z");
  stored.record = "{}";
  return stored;
}

TEST(CliLetters, JsonIsAsInTheContractAndFreeOfThePayload) {
  EXPECT_EQ(json_of(stored("a", "lock_timeout"), at("2025-11-21T03:00:00Z")).dump(),
            R"({"id":"a","type":"save","monitor":"P1","priority":"background","reason":"lock_timeout",)"
            R"("message":"a message that\nhas lines","attempts":1,"max_attempts":1,)"
            R"("failed_at":"2025-11-21T02:00:00.000Z","enqueued_at":"1970-01-01T00:00:00.000Z","age_ms":3600000,)"
            R"("replay_count":0,"tries":0,"state":"queued","position":"7","payload_bytes":6})");
}

TEST(CliLetters, AgesAreNotLessThanNothing) {
  EXPECT_EQ(age_of(at("2025-11-21T03:00:00Z"), at("2025-11-21T02:00:00Z")), milliseconds(0));
}

TEST(CliLetters, TextHasMessagesToTheirEndAndNoPayload) {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  drain::StoredLetter letter = stored("a", "lock_timeout");
  letter.letter.attempts.front().message = std::string(300, 'x') + "end";
  const Console console({Format::text, false, 0, "never"});
  const std::string text = text_of(letter, at("2025-11-21T03:00:00Z"), console);
  EXPECT_NE(text.find("xend\n"), std::string::npos);
  EXPECT_EQ(text.find("secret"), std::string::npos);
}

TEST(CliLetters, HistogramHasTheMostFrequentAndCountsTheOthers) {
  drain::LetterStatistics statistics;
  for (int reason = 1; reason <= 12; ++reason) {
    for (int i = 0; i < reason; ++i) statistics.letter(stored("x", "reason_" + std::to_string(reason)));
  }
  const std::string text = histogram_of(statistics, Console({Format::text, false, 0, "never"}));
  EXPECT_LT(text.find("reason_12"), text.find("reason_11"));
  EXPECT_NE(text.find("reason_3"), std::string::npos);
  EXPECT_EQ(text.find("reason_2 "), std::string::npos);
  EXPECT_NE(text.find("others           3"), std::string::npos) << text;
}

// What is written to stdout meanwhile.
template <class Function>
std::string output_of(Function function) {
  testing::internal::CaptureStdout();
  function();
  return testing::internal::GetCapturedStdout();
}

TEST(CliStreamedTable, HoldsNoMoreThanItsFirstRows) {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  const Console console({Format::text, false, 0, "never"});
  const std::string text = output_of([&console] {
    StreamedTable table({{"ID"}, {"N", true}}, console);
    for (std::size_t i = 0; i < StreamedTable::deciding_rows; ++i) table.add({{"row"}, {"1"}});
    table.add({{"a longer one"}, {"2"}});
    table.finish();
  });
  EXPECT_EQ(text.substr(0, 14), "ID   N\nrow  1\n");
  EXPECT_NE(text.find("\na longer one  2\n"), std::string::npos);  // not cut: ids are to be copied
}

TEST(CliStreamedTable, NothingIsNoTable) {
  const Console console({Format::text, false, 0, "never"});
  EXPECT_EQ(output_of([&console] { StreamedTable({{"ID"}}, console).finish(); }), "");
}

TEST(CliSignalRelay, EveryInboxGetsWhatComesWhileItIsThere) {
  SignalRelay relay;
  const WakeUp never;
  EXPECT_EQ(relay.deliver(SIGTERM), 0u);
  SignalRelay::Inbox first(relay);
  SignalRelay::Inbox second(relay);
  EXPECT_EQ(first.wait(never, steady_clock::now()), std::nullopt);
  EXPECT_EQ(relay.deliver(SIGTERM), 2u);
  EXPECT_EQ(relay.deliver(SIGTERM), 2u);
  EXPECT_EQ(relay.deliver(SIGCHLD), 2u);
  for (SignalRelay::Inbox* inbox : {&first, &second}) {
    EXPECT_EQ(inbox->wait(never, steady_clock::time_point::max()), SIGTERM);  // once, like the kernel's
    EXPECT_EQ(inbox->wait(never, steady_clock::time_point::max()), SIGCHLD);
    EXPECT_EQ(inbox->wait(never, steady_clock::now()), std::nullopt);
  }
}

TEST(CliSignalRelay, AnInboxIsWokenByOthersToo) {
  SignalRelay relay;
  SignalRelay::Inbox inbox(relay);
  const WakeUp wake_up;
  wake_up.notify();
  EXPECT_EQ(inbox.wait(wake_up, steady_clock::time_point::max()), std::nullopt);
}

}  // namespace
}  // namespace forelock::cli
