#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <future>
#include <nlohmann/json.hpp>

#include "cli/serve/history/history.h"
#include "cli/serve/history/history_json.h"
#include "records/wall_time.h"
#include "support/temporary_directory.h"

namespace forelock::cli {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr WallTime noon{milliseconds(1'800'000'000'000)};

OwnerRecord somebody(const std::string& name) {
  OwnerRecord record;
  record.instance = name + "/1/main";
  record.lock_info = "work of " + name;
  record.guid = "guid of " + name;
  record.stack = {"save at " + name + ".cc:7"};
  return record;
}

// P1 at `at`: held since `since`, and waited for since then, each where there is a name.
struct Look {
  WallTime at;
  std::string holder = {};
  std::string waiter = {};
  WallTime since = noon;
};

std::shared_ptr<const Picture> picture(const Look& look) {
  MonitorView view;
  view.monitor = "P1";
  view.path = "/P1";
  const auto lasted = look.at - look.since;
  if (!look.holder.empty()) {
    view.holder.emplace();
    view.holder->owner = somebody(look.holder);
    view.holder->priority = Priority::foreground;
    view.holder->token = 7;
    view.holder->held = lasted;
  }
  if (!look.waiter.empty()) {
    WaiterView waiter;
    waiter.owner = somebody(look.waiter);
    waiter.node = "B-0000000001";
    waiter.priority = Priority::background;
    waiter.waited = lasted;
    view.queue.push_back(waiter);
  }
  return std::make_shared<const Picture>(std::vector{view}, Picture::Steady(look.at.time_since_epoch()), look.at,
                                         seconds(3));
}

// P1 may not be read, and is the only one.
Picture closed_picture(WallTime at) {
  Picture::Parts parts;
  parts.sightings = std::make_shared<const Sightings>();
  parts.unreadable = std::make_shared<const Unreadable>(Unreadable{{"P1", "a closed ACL"}});
  parts.begun = Picture::Steady(at.time_since_epoch());
  parts.wall = at;
  parts.fresh_for = seconds(3);
  return Picture(std::move(parts));
}

std::string told(const std::vector<Stay>& stays) {
  std::string text;
  for (const Stay& stay : stays) {
    text += (stay.kind == Stay::Kind::hold ? "hold " : "wait ") + stay.who.substr(0, 1) + ' ' +
            std::to_string((stay.from - noon).count()) + '-';
    if (stay.to) text += std::to_string((*stay.to - noon).count());
    if (stay.unseen_since) text += " unseen since " + std::to_string((*stay.unseen_since - noon).count());
    text += (stay.outcome.empty() ? "" : ' ' + stay.outcome) + ';';
  }
  return text;
}

TEST(StayTracker, tells_beginnings_and_ends_once) {
  StayTracker tracker;
  EXPECT_EQ(told(tracker.take(*picture({noon + seconds(1), "a", "b"}))), "hold a 0-;wait b 0-;");
  EXPECT_EQ(told(tracker.take(*picture({noon + seconds(2), "a", "b"}))), "");
  EXPECT_EQ(told(tracker.take(*picture({noon + seconds(3), "b", "", noon + milliseconds(2500)}))),
            "hold b 2500-;hold a 0-3000;wait b 0-2500 granted;");
  EXPECT_EQ(told(tracker.take(*picture({noon + seconds(4)}))), "hold b 2500-4000;");
  EXPECT_TRUE(tracker.open().empty());
}

TEST(StayTracker, keeps_waiting_apart_from_holding_and_unknown_contenders_apart_from_each_other) {
  StayTracker tracker;
  std::vector<MonitorView> view{picture({noon + seconds(1), "a", "b"})->monitors()[0]->view()};
  view[0].queue[0].owner.reset();
  view[0].queue.push_back(view[0].queue[0]);
  view[0].queue[1].node = "B-0000000002";
  const Picture strangers(view, {}, noon + seconds(1), seconds(3));
  EXPECT_EQ(told(tracker.take(strangers)), "hold a 0-;wait  0-;wait  0-;");
}

TEST(StayTracker, what_ends_while_nobody_looks_ends_at_the_last_look) {
  StayTracker tracker;
  tracker.take(*picture({noon + seconds(1), "a"}));
  EXPECT_EQ(told(tracker.take(*picture({noon + seconds(60)}))), "hold a 0-1000 unseen;");
  EXPECT_EQ(tracker.watched()->from, noon + seconds(60));
  tracker.take(*picture({noon + seconds(62)}));
  EXPECT_EQ(tracker.watched()->from, noon + seconds(60));
  EXPECT_EQ(tracker.watched()->to, noon + seconds(62));
}

TEST(StayTracker, what_lasts_goes_on_behind_a_closed_acl_and_is_no_second_grant) {
  StayTracker tracker;
  tracker.take(*picture({noon + seconds(1), "a", "b"}));
  EXPECT_EQ(told(tracker.take(closed_picture(noon + seconds(2)))),
            "hold a 0- unseen since 1000;wait b 0- unseen since 1000;");
  EXPECT_EQ(told(tracker.take(closed_picture(noon + seconds(3)))), "");
  EXPECT_EQ(told(tracker.take(*picture({noon + seconds(4), "a", "b", noon + seconds(1)}))), "hold a 0-;wait b 0-;");
  EXPECT_EQ(told(tracker.take(*picture({noon + seconds(5)}))), "hold a 0-5000;wait b 0-5000;") << "seen again";
}

TEST(StayTracker, what_ends_behind_a_closed_acl_ends_unseen_at_the_last_look) {
  const auto after = [](const std::shared_ptr<const Picture>& next) {
    StayTracker tracker;
    tracker.take(*picture({noon + seconds(1), "a", "b"}));
    tracker.take(closed_picture(noon + seconds(2)));
    tracker.take(closed_picture(noon + seconds(3)));
    return told(tracker.take(*next));
  };
  EXPECT_EQ(after(picture({noon + seconds(4)})), "hold a 0-1000 unseen;wait b 0-1000 unseen;");
  EXPECT_EQ(after(picture({noon + seconds(4), "b", "", noon + milliseconds(2500)})),
            "hold b 2500-;hold a 0-1000 unseen;wait b 0-2500 granted;");
  const auto gone = std::make_shared<const Picture>(std::vector<MonitorView>(),
                                                    Picture::Steady((noon + seconds(4)).time_since_epoch()),
                                                    noon + seconds(4), seconds(3));
  EXPECT_EQ(after(gone), "hold a 0-1000 unseen;wait b 0-1000 unseen;");
}

TEST(StayTracker, what_an_earlier_process_has_left_behind_a_closed_acl_goes_on) {
  StayTracker before;
  before.take(*picture({noon + seconds(1), "a"}));
  StayTracker tracker;
  tracker.resume(before.open(), noon + seconds(1));
  EXPECT_EQ(told(tracker.take(closed_picture(noon + seconds(60)))), "hold a 0- unseen since 1000;");
  EXPECT_EQ(told(tracker.take(*picture({noon + seconds(61)}))), "hold a 0-1000 unseen;");
}

TEST(StayTracker, what_was_behind_a_closed_acl_before_a_restart_is_not_shown_for_longer_than_it_was_seen) {
  StayTracker before;
  before.take(*picture({noon + seconds(1), "a"}));
  before.take(closed_picture(noon + seconds(2)));
  before.take(closed_picture(noon + seconds(50)));
  StayTracker tracker;
  tracker.resume(before.open(), noon + seconds(50));
  EXPECT_EQ(told(tracker.take(closed_picture(noon + seconds(60)))), "");
  EXPECT_EQ(told(tracker.take(*picture({noon + seconds(61)}))), "hold a 0-1000 unseen;");
  StayTracker opened;  // the ACL was opened, and the hold had ended, while nobody looked
  opened.resume(before.open(), noon + seconds(50));
  EXPECT_EQ(told(opened.take(*picture({noon + seconds(60)}))), "hold a 0-1000 unseen;");
}

TEST(StayTracker, what_an_earlier_process_has_left_goes_on_or_has_ended_unseen) {
  StayTracker before;
  before.take(*picture({noon + seconds(1), "a", "b"}));
  StayTracker tracker;
  tracker.resume(before.open(), noon + seconds(1));
  tracker.number_from(9);
  EXPECT_EQ(told(tracker.take(*picture({noon + seconds(2), "a"}))), "wait b 0-1000 unseen;");
  ASSERT_EQ(tracker.open().size(), 1U);
  EXPECT_EQ(tracker.open()[0].id, 1);
}

TEST(StayTracker, an_explained_end_has_its_explanation_and_no_other_has) {
  StayTracker tracker;
  const auto first = picture({noon + seconds(1), "a"});
  tracker.take(*first);
  HolderView other = *first->find("P1")->view().holder;
  other.owner->guid = "another";
  tracker.explain_end("P1", other, "forced", "not this one");
  tracker.explain_end("P1", *first->find("P1")->view().holder, "unlocked", "too long");
  const std::vector<Stay> ended = tracker.take(*picture({noon + seconds(2)}));
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0].outcome + ": " + ended[0].reason, "unlocked: too long");
}

// These instants are kept whatever the time is now.
constexpr HistoryLimits for_ever{hours(24 * 36'500), 1 << 28};

TEST(StayTracker, an_end_that_was_seen_is_explained_a_moment_later) {
  StayTracker tracker;
  const auto first = picture({noon + seconds(1), "a"});
  tracker.take(*first);
  tracker.take(*picture({noon + seconds(2)}));
  const HolderView holder = *first->find("P1")->view().holder;
  const auto stay = tracker.explain_end("P1", holder, "forced", "it hangs");
  ASSERT_TRUE(stay);
  EXPECT_EQ(stay->id, 1);
  EXPECT_EQ(told({*stay}), "hold a 0-2000 forced;");
  EXPECT_FALSE(tracker.explain_end("P1", holder, "forced", "it hangs"));  // once
}

TEST(StayTracker, an_explanation_and_its_end_find_each_other_however_many_pictures_are_between_them) {
  StayTracker tracker;
  const auto look = [&tracker](int number, const std::string& holder) {
    return told(tracker.take(*picture({noon + milliseconds(50 * number), holder})));
  };
  look(0, "a");
  const HolderView holder = *picture({noon, "a"})->find("P1")->view().holder;
  EXPECT_FALSE(tracker.explain_end("P1", holder, "forced", "it hangs"));
  for (int number = 1; number < 100; ++number) EXPECT_EQ(look(number, "a"), "");
  EXPECT_EQ(look(100, ""), "hold a 0-5000 forced;");
  look(101, "b");
  look(102, "");
  for (int number = 103; number < 200; ++number) look(number, "");
  EXPECT_TRUE(tracker.explain_end("P1", *picture({noon, "b"})->find("P1")->view().holder, "unlocked", "too long"));
}

class HistoryFiles : public testing::Test {
 protected:
  static Stay stay(std::int64_t id, WallTime from, std::optional<WallTime> to, const std::string& monitor = "P1") {
    return {id, Stay::Kind::hold, monitor, "guid", "a/1/main", "work", Priority::background, 7, from, to, "", ""};
  }
  // The ids of what overlaps the span.
  static std::vector<std::int64_t> found(HistoryFile& file, WallTime from, WallTime to, std::size_t most = 100) {
    std::vector<std::int64_t> ids;
    for (const Stay& each : file.find("P1", from, to, most).stays) ids.push_back(each.id);
    return ids;
  }

  test::TemporaryDirectory directory_;
  const std::filesystem::path path_ = directory_.path() / "history.db";
};

using Ids = std::vector<std::int64_t>;

TEST_F(HistoryFiles, finds_what_overlaps_the_newest_first_and_survives) {
  const Stay whole{4,
                   Stay::Kind::wait,
                   "P1",
                   "guid",
                   "a/1/main",
                   "work \"x\"\n",
                   std::nullopt,
                   9,
                   noon + seconds(30),
                   noon + seconds(40),
                   "granted",
                   "why"};
  {
    HistoryFile file(path_, {});
    EXPECT_EQ(file.next_id(), 1);
    EXPECT_FALSE(file.last_look());
    file.write({stay(1, noon, noon + seconds(10)), stay(2, noon + seconds(10), std::nullopt),
                stay(3, noon, std::nullopt, "P2"), whole},
               StayTracker::Watch{noon, noon + seconds(20)}, noon);
    file.write({}, StayTracker::Watch{noon, noon + seconds(25)}, noon);
  }
  struct stat status {};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  HistoryFile file(path_, {});
  EXPECT_EQ(file.next_id(), 5);
  EXPECT_EQ(file.last_look(), noon + seconds(25));
  EXPECT_EQ(found(file, noon + seconds(5), noon + seconds(9)), (Ids{1}));
  EXPECT_EQ(found(file, noon + seconds(5), noon + seconds(35)), (Ids{4, 2, 1}));
  EXPECT_EQ(found(file, noon + seconds(50), noon + seconds(60)), (Ids{2}));
  EXPECT_EQ(found(file, noon, noon + hours(1), 2), (Ids{4, 2}));
  EXPECT_EQ(file.find("P1", noon + seconds(35), noon + seconds(36), 1).stays, (std::vector{whole}));
  const auto watched = file.find("P1", noon, noon + hours(1), 1).watched;
  ASSERT_EQ(watched.size(), 1U);
  EXPECT_EQ(watched[0].to, noon + seconds(25));
  EXPECT_EQ(file.open(10).size(), 2U);
  EXPECT_EQ(file.open(1).size(), 1U);   // the newest
  EXPECT_EQ(file.open(10).size(), 1U);  // the other one has been ended
}

TEST_F(HistoryFiles, what_is_too_old_goes_and_what_lasts_stays) {
  HistoryFile file(path_, {hours(1), 1 << 30});
  file.write({stay(1, noon, noon + seconds(1)), stay(2, noon, std::nullopt), stay(3, noon, noon + hours(1))},
             std::nullopt, noon);
  file.write({}, std::nullopt, noon + hours(1) + seconds(2));
  EXPECT_EQ(found(file, noon, noon + hours(2)), (Ids{3, 2}));
}

TEST_F(HistoryFiles, it_does_not_grow_past_its_size_and_the_oldest_goes_first) {
  constexpr std::int64_t size = 1024 * 1024;
  HistoryFile file(path_, {hours(24), size});
  std::int64_t id = 0;
  for (int batch = 0; batch < 60; ++batch) {
    std::vector<Stay> stays;
    for (int i = 0; i < 200; ++i, ++id)
      stays.push_back(stay(id + 1, noon + milliseconds(id), noon + milliseconds(id + 1)));
    file.write(stays, std::nullopt, noon);
  }
  EXPECT_LE(std::filesystem::file_size(path_), size);
  const Ids ids = found(file, noon, noon + hours(1), 100'000);
  EXPECT_LT(ids.size(), 12'000U);
  EXPECT_GT(ids.size(), 1'000U);
  EXPECT_EQ(ids.front(), 12'000);
  EXPECT_EQ(ids.back(), 12'000 - static_cast<std::int64_t>(ids.size()) + 1);  // none is missing in between
}

// Why it cannot be opened.
std::string problem_of(const std::filesystem::path& path) {
  try {
    const HistoryFile file(path, {});
    return "";
  } catch (const HistoryProblem& problem) {
    return problem.what();
  }
}

TEST_F(HistoryFiles, what_is_no_history_is_left_as_it_is) {
  std::ofstream(path_) << std::string(5000, 'x');
  EXPECT_NE(problem_of(path_).find("damaged: move it away"), std::string::npos) << problem_of(path_);
  EXPECT_EQ(std::filesystem::file_size(path_), 5000U);
  EXPECT_NE(problem_of(directory_.path()).find("not a file"), std::string::npos);
  EXPECT_NE(problem_of(directory_.path() / "no" / "such").find("No such file"), std::string::npos);
  const auto foreign = directory_.path() / "foreign";
  std::ofstream{foreign}.close();
  outbox::Connection(foreign, milliseconds(0)).run("CREATE TABLE t (x)");
  EXPECT_NE(problem_of(foreign).find("of another program"), std::string::npos);
  const auto newer = directory_.path() / "newer";
  { const HistoryFile file(newer, {}); }
  outbox::Connection(newer, milliseconds(0)).run("PRAGMA user_version = 4");
  EXPECT_NE(problem_of(newer).find("version 4"), std::string::npos);
}

Stay with_stack(Stay stay, std::vector<std::string> stack) {
  stay.texts = std::make_shared<const RecordTexts>(RecordTexts{std::move(stack), {}});
  return stay;
}

TEST_F(HistoryFiles, stacks_are_kept_once_and_go_with_the_last_that_has_them) {
  const std::vector<std::string> here = {"save at save.cc:7", "main at main.cc:3"};
  {
    HistoryFile file(path_, {hours(2), 1 << 30});
    file.write({with_stack(stay(1, noon, noon + seconds(1)), here), with_stack(stay(2, noon, std::nullopt), here),
                with_stack(stay(3, noon, std::nullopt), {"bulk at bulk.cc:9"}), stay(4, noon, std::nullopt)},
               std::nullopt, noon);
    const auto stays = file.find("P1", noon, noon + hours(1), 10).stays;
    ASSERT_EQ(stays.size(), 4U);
    EXPECT_TRUE(stays[0].stack().empty());
    EXPECT_EQ(stays[1].stack(), std::vector<std::string>{"bulk at bulk.cc:9"});
    EXPECT_EQ(stays[3].stack(), here);
    EXPECT_EQ(file.open(10)[2].stack(), here) << "what lasts is known with it after a restart";
  }
  const auto stacks = [this] {
    return outbox::Connection(path_, milliseconds(0)).number("SELECT count(*) FROM stack");
  };
  EXPECT_EQ(stacks(), 2);
  {
    HistoryFile file(path_, {hours(2), 1 << 30});
    file.write({with_stack(stay(3, noon, noon + seconds(1)), {"bulk at bulk.cc:9"})}, std::nullopt, noon);
    file.write({}, std::nullopt, noon + hours(2) + seconds(2));
  }
  EXPECT_EQ(stacks(), 1) << "that of what still lasts";
}

TEST_F(HistoryFiles, the_stacks_of_what_goes_make_room_at_once) {
  constexpr std::int64_t size = 8 * 1024 * 1024;
  HistoryFile file(path_, {hours(24), size});
  std::int64_t id = 0;
  for (int batch = 0; batch < 40; ++batch) {
    std::vector<Stay> stays;
    for (int i = 0; i < 200; ++i) {
      ++id;
      stays.push_back(with_stack(stay(id, noon + milliseconds(id), noon + milliseconds(id + 1)),
                                 {"line " + std::to_string(id), std::string(500, 'x')}));
    }
    file.write(stays, std::nullopt, noon);
  }
  EXPECT_LE(std::filesystem::file_size(path_), size);
  EXPECT_GT(found(file, noon, noon + hours(1), 100'000).size(), 3'000U);
}

TEST_F(HistoryFiles, a_file_of_format_1_is_used_further) {
  std::ofstream{path_}.close();
  {
    const outbox::Connection old(path_, milliseconds(0));
    old.run(
        "CREATE TABLE stay (id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, monitor TEXT NOT NULL, "
        "identity TEXT NOT NULL, who TEXT NOT NULL, info TEXT NOT NULL, class INTEGER, token INTEGER NOT NULL, "
        "began INTEGER NOT NULL, ended INTEGER, outcome TEXT NOT NULL, reason TEXT NOT NULL)");
    old.run("CREATE INDEX stay_of_monitor ON stay (monitor, began, ended)");
    old.run("CREATE INDEX stay_by_end ON stay (ended)");
    old.run("CREATE TABLE look (began INTEGER PRIMARY KEY, ended INTEGER NOT NULL)");
    old.run(("INSERT INTO stay VALUES (1, 0, 'P1', 'x', 'a', '', 0, 7, " +
             std::to_string(noon.time_since_epoch().count()) + ", NULL, '', '')")
                .c_str());
    old.run("PRAGMA application_id = 1181501545");
    old.run("PRAGMA user_version = 1");
  }
  EXPECT_EQ(problem_of(path_), "");
  HistoryFile file(path_, for_ever);
  file.write({with_stack(stay(2, noon, std::nullopt), {"main"})}, std::nullopt, noon);
  EXPECT_EQ(found(file, noon, noon + seconds(1)), (Ids{2, 1}));
}

TEST_F(HistoryFiles, since_when_it_was_not_seen_is_kept) {
  Stay unseen = stay(1, noon, std::nullopt);
  unseen.unseen_since = noon + seconds(3);
  {
    HistoryFile file(path_, for_ever);
    file.write({unseen}, StayTracker::Watch{noon, noon + seconds(9)}, noon);
  }
  HistoryFile file(path_, for_ever);
  EXPECT_EQ(file.open(1), (std::vector{unseen}));
  EXPECT_EQ(span_json(file, {"P1", noon, noon + seconds(9), {}, 9})["stays"][0]["unseen_since"],
            records::format_wall_time(noon + seconds(3)));
  file.open(0);
  const Stay ended = file.find("P1", noon, noon + seconds(9), 9).stays.at(0);
  EXPECT_EQ(ended.to, noon + seconds(3));
  EXPECT_FALSE(ended.unseen_since);
}

TEST_F(HistoryFiles, one_process_at_a_time) {
  const HistoryFile file(path_, {});
  EXPECT_NE(problem_of(path_).find("another process has it"), std::string::npos) << problem_of(path_);
}

nlohmann::json asked(History& history, const HistoryQuestion& question, unsigned status = 200) {
  std::promise<web::Response> answered;
  EXPECT_TRUE(history.ask(question, [&](web::Response response) { answered.set_value(std::move(response)); }));
  const web::Response response = answered.get_future().get();
  EXPECT_EQ(response.status, status) << response.body;
  return nlohmann::json::parse(response.body);
}

TEST_F(HistoryFiles, who_held_it_then) {
  History history(path_, for_ever, [](const std::string& problem) { ADD_FAILURE() << problem; });
  history.start();
  history.take(picture({noon + seconds(1), "a", "b"}));
  history.take(picture({noon + seconds(3), "b", "", noon + seconds(2)}));
  const auto at = [&](WallTime when) { return asked(history, {"P1", {}, {}, when, 1}); };
  EXPECT_EQ(at(noon + seconds(1))["holder"]["who"], "a/1/main");
  EXPECT_EQ(at(noon + seconds(1))["holder"]["stack"][0], "save at a.cc:7");
  EXPECT_EQ(at(noon + seconds(1))["waiting"][0]["who"], "b/1/main");
  EXPECT_EQ(at(noon + seconds(1))["waiting"][0]["stack"][0], "save at b.cc:7");
  EXPECT_TRUE(at(noon + seconds(2))["watched"]);
  EXPECT_EQ(at(noon + seconds(10))["holder"]["who"], "b/1/main");
  EXPECT_FALSE(at(noon + seconds(10))["watched"]);
  EXPECT_TRUE(at(noon - seconds(1))["holder"].is_null());
  const auto span = asked(history, {"P1", noon, noon + seconds(10), {}, 500});
  EXPECT_EQ(span["stays"].size(), 3U);
  EXPECT_EQ(span["stays"][0]["to"], nullptr);
  EXPECT_EQ(history.lost(), 0U);
}

TEST_F(HistoryFiles, a_damaged_file_costs_the_history_alone_until_it_is_moved_away) {
  std::ofstream(path_) << std::string(5000, 'x');
  std::promise<std::string> told_problem;
  std::promise<void> told_end;
  History history(path_, for_ever, [&](const std::string& problem) {
    if (problem.empty()) {
      told_end.set_value();
    } else {
      told_problem.set_value(problem);
    }
  });
  history.start();
  EXPECT_NE(told_problem.get_future().get().find("damaged"), std::string::npos);
  history.take(picture({noon + seconds(1), "a"}));
  EXPECT_EQ(asked(history, {"P1", noon, noon, {}, 1}, 503)["error"]["code"], "history_unavailable");
  EXPECT_FALSE(history.writable());
  std::filesystem::rename(path_, directory_.path() / "damaged");
  told_end.get_future().get();
  EXPECT_TRUE(history.writable());
  EXPECT_EQ(asked(history, {"P1", noon, noon + seconds(1), {}, 9})["stays"].size(), 1U);
}

TEST_F(HistoryFiles, a_file_that_another_process_has_at_first_loses_nothing) {
  std::optional<HistoryFile> other(std::in_place, path_, for_ever);
  Stay goes_on = stay(3, noon + seconds(4), std::nullopt);
  goes_on.identity = "guid of a";
  other->write({stay(1, noon, noon + seconds(1)), stay(2, noon + seconds(1), noon + seconds(4)), goes_on},
               StayTracker::Watch{noon, noon + seconds(5)}, noon);
  std::promise<std::string> told_problem;
  std::promise<void> told_end;
  History history(path_, for_ever, [&](const std::string& problem) {
    if (problem.empty()) {
      told_end.set_value();
    } else {
      told_problem.set_value(problem);
    }
  });
  history.start();
  EXPECT_NE(told_problem.get_future().get().find("another process has it"), std::string::npos);
  history.take(picture({noon + seconds(6), "a", "b", noon + seconds(4)}));
  history.take(picture({noon + seconds(7), "a", "", noon + seconds(4)}));
  asked(history, {"P1", noon, noon, {}, 1}, 503);  // it has come to these
  other.reset();
  told_end.get_future().get();
  const auto past = asked(history, {"P1", noon, noon + seconds(8), {}, 9});
  std::string found;
  for (const auto& one : past["stays"]) {
    found +=
        one["kind"].get<std::string>() + ' ' + one["who"].get<std::string>() + (one["to"].is_null() ? " lasts;" : ";");
  }
  EXPECT_EQ(found, "wait b/1/main;hold a/1/main lasts;hold a/1/main;hold a/1/main;");
}

TEST(TrustedClock, a_clock_that_was_put_ahead_makes_nothing_too_old_for_an_hour) {
  using std::chrono::minutes;
  const TrustedClock::Steady begin{};
  TrustedClock clock;
  EXPECT_FALSE(clock.now(noon, begin));
  EXPECT_FALSE(clock.now(noon + minutes(59), begin + minutes(59)));
  EXPECT_EQ(clock.now(noon + hours(1), begin + hours(1)), noon + hours(1));
  EXPECT_FALSE(clock.now(noon + hours(9000), begin + hours(1) + seconds(1)));
  EXPECT_FALSE(clock.now(noon + hours(1) + minutes(1), begin + hours(1) + minutes(1))) << "it is put right";
  EXPECT_TRUE(clock.now(noon + hours(2) + minutes(1), begin + hours(2) + minutes(1)));
  EXPECT_TRUE(clock.now(noon, begin + hours(2) + minutes(2))) << "put back it removes nothing";
}

TEST_F(HistoryFiles, while_the_time_is_not_known_nothing_is_too_old) {
  HistoryFile file(path_, {});
  file.write({stay(1, noon - hours(24 * 30), noon - hours(24 * 29))}, std::nullopt, std::nullopt);
  file.write({}, std::nullopt, std::nullopt);
  EXPECT_EQ(found(file, noon - hours(24 * 30), noon), (Ids{1}));
  file.write({}, std::nullopt, noon);
  EXPECT_EQ(found(file, noon - hours(24 * 30), noon), Ids{});
}

TEST(HistoryQuestions, span_or_moment) {
  std::string problem;
  const WallTime now = noon;
  const auto usual = parse_question("P1", "", now, problem);
  ASSERT_TRUE(usual);
  EXPECT_EQ(usual->from, now - hours(1));
  EXPECT_EQ(parse_question("P1", "at=15m", now, problem)->at, now - std::chrono::minutes(15));
  EXPECT_EQ(parse_question("P1", "from=2027-01-15T07%3A00%3A00Z", now, problem)->from, now - hours(1));
  EXPECT_EQ(parse_question("P1", "to=1h&limit=7", now, problem)->from, now - hours(2));
  for (const char* wrong : {"at=x", "from=1m&to=1h", "limit=0", "limit=5001", "who=me", "at=1m&at=2m", "at=%zz", "at"})
    EXPECT_FALSE(parse_question("P1", wrong, now, problem)) << wrong;
}

TEST(WaitPlot, has_the_percentiles_of_each_class_in_each_part) {
  std::vector<GrantedWait> waits;
  for (int i = 1; i <= 200; ++i) waits.push_back({Priority::foreground, noon + seconds(30), milliseconds(i)});
  waits.push_back({Priority::background, noon + seconds(30), seconds(9)});
  waits.push_back({Priority::background, noon + hours(1), seconds(5)});  // the very end
  waits.push_back({Priority::background, noon - milliseconds(1), seconds(5)});
  waits.push_back({Priority::background, noon + hours(1) + milliseconds(1), seconds(5)});
  const WaitPlot plot = plot_waits(waits, {}, noon, noon + hours(1));
  ASSERT_EQ(plot.parts.size(), WaitPlot::most_parts);
  EXPECT_EQ(plot.parts[1].from, noon + seconds(75));
  const auto& first = plot.parts.front().waits;
  ASSERT_TRUE(first[Priority::foreground] && first[Priority::background]);
  EXPECT_EQ(first[Priority::foreground]->count, 200U);
  EXPECT_EQ(first[Priority::foreground]->p50, milliseconds(100));
  EXPECT_EQ(first[Priority::foreground]->p99, milliseconds(198));
  EXPECT_EQ(first[Priority::background]->p50, seconds(9));
  EXPECT_EQ(first[Priority::background]->p99, seconds(9));
  EXPECT_FALSE(plot.parts[1].waits[Priority::foreground]);
  EXPECT_EQ(plot.parts.back().waits[Priority::background]->count, 1U);
}

TEST(WaitPlot, counts_grants_by_class_and_what_was_taken_away) {
  const std::vector<SeenHold> holds = {{Priority::foreground, noon, noon + seconds(80)},
                                       {Priority::foreground, noon + seconds(1), {}},
                                       {Priority::background, noon + seconds(75), {}},
                                       {{}, noon + hours(1), {}},
                                       {Priority::background, noon - seconds(1), noon + hours(1)},  // began before
                                       {Priority::background, noon, noon + hours(2)}};
  const WaitPlot plot = plot_waits({}, holds, noon, noon + hours(1));
  EXPECT_EQ(plot.parts[0].grants[Priority::foreground], 2U);
  EXPECT_EQ(plot.parts[0].grants[Priority::background], 1U);
  EXPECT_EQ(plot.parts[1].grants[Priority::background], 1U);
  EXPECT_EQ(plot.parts.back().grants_of_no_class, 1U);
  EXPECT_EQ(plot.parts[1].taken_away, 1U);
  EXPECT_EQ(plot.parts.back().taken_away, 1U);
  EXPECT_EQ(plot.parts[2].taken_away, 0U);
}

TEST(WaitPlot, of_a_short_span_has_parts_of_a_second) {
  EXPECT_EQ(plot_waits({}, {}, noon, noon + milliseconds(2500)).parts.size(), 3U);
  const WaitPlot moment = plot_waits({{Priority::foreground, noon, seconds(1)}}, {}, noon, noon);
  ASSERT_EQ(moment.parts.size(), 1U);
  EXPECT_TRUE(moment.parts[0].waits[Priority::foreground]);
}

}  // namespace
}  // namespace forelock::cli
