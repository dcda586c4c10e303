
#include <clocale>
#include <nlohmann/json.hpp>

#include "cli/failure.h"
#include "cli/help_text.h"
#include "cli/monitors/views_text.h"
#include "cli/output/console.h"
#include "cli/output/json_output.h"
#include "cli/output/quantity_text.h"
#include "cli/output/text_table.h"
#include "cli/suggestion.h"
#include "forelock/error.h"
#include "records/wall_time.h"
#include "support/test.h"

namespace forelock::cli {
namespace {

class CliText : public testing::Test {
 protected:
  void SetUp() override { std::setlocale(LC_CTYPE, "C.UTF-8"); }
  const Console console_{{Format::text, false, 0, "never"}};
};

TEST_F(CliText, DurationsHaveTwoUnitsAtMost) {
  EXPECT_EQ(duration_text(milliseconds(0)), "0 ms");
  EXPECT_EQ(duration_text(milliseconds(999)), "999 ms");
  EXPECT_EQ(duration_text(milliseconds(3250)), "3.2 s");
  EXPECT_EQ(duration_text(milliseconds(250'000)), "4 min 10 s");
  EXPECT_EQ(duration_text(milliseconds(7'500'000)), "2 h 5 min");
  EXPECT_EQ(duration_text(milliseconds(273'600'000)), "3 d 4 h");
}

TEST_F(CliText, TablesAlignWhatTerminalsShow) {
  TextTable table({{"NAME"}, {"N", true}, {"LAST"}});
  table.add({{"ä"}, {"7"}, {"x"}});
  table.add({{"価格"}, {"123"}, {"y"}});
  EXPECT_EQ(table.str(console_), "NAME    N  LAST\nä       7  x\n価格  123  y\n");
}

TEST_F(CliText, LongCellsAreCut) {
  EXPECT_EQ(cut_to_width("abcdef", 6), "abcdef");
  EXPECT_EQ(cut_to_width("abcdefg", 6), "abcde…");
  EXPECT_EQ(cut_to_width("価格価格", 6), "価格…");
  EXPECT_EQ(display_width("価格…"), 5u);
}

TEST_F(CliText, NothingFromOthersSteersTheTerminal) {
  EXPECT_EQ(printable("a\x1b[2Jb\x7F"
                      "c\u009bd\ne\tf"),
            "a?[2Jb?c?d e f");
  EXPECT_EQ(printable("ä価\U0001F512"), "ä価\U0001F512");
}

TEST_F(CliText, NorDoesJson) {
  EXPECT_EQ(json_text({{"a", "\x1b[2J\x7F\u009bé\u00a0"}}), "{\"a\":\"\\u001b[2J\\u007f\\u009bé\u00a0\"}");
  EXPECT_EQ(json_text({{"a", "\xC2"}}), "{\"a\":\"\uFFFD\"}");
  EXPECT_EQ(escaped_json("{\"a\":\"\u0080\u009f\"}"), "{\"a\":\"\\u0080\\u009f\"}");
}

TEST_F(CliText, HelpIsAsWideAsTheTerminal) {
  const std::string help =
      "Usage: forelock\n\n"
      "  --option TEXT          one two three four five six\n"
      "  a line without a description goes on below its own\n";
  EXPECT_EQ(fitted_help(help, 0), help);
  EXPECT_EQ(fitted_help(help, 60), help);
  EXPECT_EQ(fitted_help(help, 50),
            "Usage: forelock\n\n"
            "  --option TEXT          one two three four five\n"
            "                         six\n"
            "  a line without a description goes on below its\n"
            "    own\n");
  EXPECT_EQ(fitted_help("  --option-with-a-long-name VALUE          x y\n", 40),
            "  --option-with-a-long-name VALUE\n    x y\n");
}

TEST_F(CliText, ColoursOnlyWhereTheyAreWanted) {
  EXPECT_EQ(console_.styled("x", Style::bad), "x");
  EXPECT_EQ(Console({Format::text, false, 0, "always"}).styled("x", Style::bad), "\x1b[31mx\x1b[0m");
  EXPECT_EQ(Console({Format::text, false, 0, "always"}).styled("x", Style::plain), "x");
}

TEST_F(CliText, SuggestsOnlyWhatIsNear) {
  const std::vector<std::string> known = {"show", "release", "watch"};
  EXPECT_EQ(nearest_word("shwo", known), "show");
  EXPECT_EQ(nearest_word("realease", known), "release");
  EXPECT_EQ(nearest_word("xyzzy", known), "");
  EXPECT_EQ(nearest_word("--outptu=json", {"--output"}), "--output");
}

TEST_F(CliText, HolderWithoutARecordIsKnownByItsSession) {
  EXPECT_EQ(who(std::nullopt, 0x10000000000001), "no record (session 0x10000000000001)");
  OwnerRecord owner;
  owner.lock_info = "Save";
  EXPECT_EQ(who(owner, 1), "Save");
  owner.instance = "h/1/main";
  EXPECT_EQ(who(owner, 1), "Save (h/1/main)");
}

int exit_code_of(const std::exception_ptr& error) {
  return failure_of(error).exit_code;
}

TEST_F(CliText, AHolderOfTheFutureShowsThatClocksDiffer) {
  const auto shown = [&](std::chrono::milliseconds ahead) {
    MonitorView view;
    view.monitor = "P1";
    view.holder.emplace();
    view.holder->owner.emplace();
    view.holder->owner->acquired_at = records::wall_time_now() + ahead;
    return text_of(view, console_);
  };
  EXPECT_NE(shown(std::chrono::hours(1)).find("clocks    this machine's is at least "), std::string::npos);
  EXPECT_EQ(shown(milliseconds(0)).find("clocks"), std::string::npos);
  EXPECT_EQ(shown(-std::chrono::hours(1)).find("clocks"), std::string::npos);
}

TEST_F(CliText, WhoeverHasMovedAndWhoWillMoveAreNamed) {
  MonitorView view;
  view.monitor = "P1";
  const auto waits = [&](const char* node, std::optional<Priority> rank) {
    WaiterView waiter;
    waiter.position = view.queue.size() + 1;
    waiter.node = node;
    waiter.priority = Priority::background;
    waiter.owner.emplace();
    waiter.owner->max_wait = std::chrono::seconds(30);
    waiter.owner->rank = rank;
    view.queue.push_back(waiter);
  };
  waits("A-0000000007", Priority::foreground);
  waits("B-0000000003", std::nullopt);
  waits("B-0000000004", std::nullopt);
  const std::string text = text_of(view, console_);
  EXPECT_NE(text.find("background, moved"), std::string::npos) << text;
  EXPECT_NE(text.find("B-0000000003 moves to the end of the foreground's queue when it has been the first of the "
                      "background for 30.0 s"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("B-0000000004 moves"), std::string::npos);
  view.queue.erase(view.queue.begin());
  EXPECT_EQ(text_of(view, console_).find("moves"), std::string::npos) << "nobody goes before it";
}

TEST_F(CliText, WhatOperatorsWishIsNamed) {
  MonitorView view;
  view.monitor = "P1";
  view.holder.emplace();
  view.holder->priority = Priority::foreground;
  view.holder->owner.emplace();
  view.holder->owner->by_wish = true;
  WaiterView waiter;
  waiter.node = "B-0000000003";
  waiter.priority = Priority::background;
  waiter.owner.emplace();
  waiter.owner->wish = Priority::foreground;
  view.queue.push_back(waiter);
  waiter.owner->wish = Priority::background;
  waiter.owner->by_wish = true;
  view.queue.push_back(waiter);
  const std::string text = text_of(view, console_);
  EXPECT_NE(text.find("class     foreground, by an operator's wish\n"), std::string::npos) << text;
  EXPECT_NE(text.find("background, wished foreground "), std::string::npos) << text;
  EXPECT_NE(text.find("background, by an operator's wish "), std::string::npos) << "what it is already is no wish";
}

TEST(CliFailure, EveryKindHasItsExitCode) {
  const auto of = [](ErrorCode code) { return exit_code_of(std::make_exception_ptr(Error(code, {}, "x"))); };
  EXPECT_EQ(of(ErrorCode::lock_timeout), 75);
  EXPECT_EQ(of(ErrorCode::lock_unavailable), 75);
  EXPECT_EQ(of(ErrorCode::lock_unhealthy), 76);
  EXPECT_EQ(of(ErrorCode::connection_loss), 69);
  EXPECT_EQ(of(ErrorCode::session_expired), 69);
  EXPECT_EQ(of(ErrorCode::not_authorized), 77);
  EXPECT_EQ(of(ErrorCode::configuration), 78);
  EXPECT_EQ(of(ErrorCode::invalid_argument), 64);
  EXPECT_EQ(of(ErrorCode::no_node), 1);
  EXPECT_EQ(of(ErrorCode::internal), 70);
  EXPECT_EQ(of(ErrorCode::kafka_unavailable), 69);
  EXPECT_EQ(of(ErrorCode::kafka_rejected), 1);
  EXPECT_EQ(of(ErrorCode::outbox_full), 74);
  EXPECT_EQ(of(ErrorCode::outbox_unavailable), 74);
  EXPECT_EQ(of(ErrorCode::record_too_new), 1);
  EXPECT_EQ(exit_code_of(std::make_exception_ptr(ConfigurationException({{"f", 1, "k", "m", "h"}}))), 78);
  EXPECT_EQ(exit_code_of(std::make_exception_ptr(std::runtime_error("x"))), 70);
  EXPECT_EQ(exit_code_of(std::make_exception_ptr(5)), 70);
}

}  // namespace
}  // namespace forelock::cli
