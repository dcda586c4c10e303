#include <gtest/gtest.h>

#include "cli/serve/blocking.h"

namespace forelock::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Each process has one session and one thread: "a" is instance "a/1/main".
struct Somebody {
  std::string name;
  std::string set = {};
  bool record = true;
};

std::optional<OwnerRecord> record_of(const Somebody& one) {
  if (!one.record) return std::nullopt;
  OwnerRecord record;
  record.instance = one.name + "/1/main";
  record.lock_info = "work of " + one.name;
  record.set = one.set;
  return record;
}

std::int64_t session_of(const Somebody& one) {
  return 0x100 + static_cast<std::int64_t>(one.name[0]);
}

MonitorView monitor(std::string id, const std::optional<Somebody>& holder, const std::vector<Somebody>& queue = {}) {
  MonitorView view;
  view.monitor = std::move(id);
  view.path = '/' + view.monitor;
  if (holder) {
    view.holder.emplace();
    view.holder->owner = record_of(*holder);
    view.holder->session = session_of(*holder);
    view.holder->held = seconds(250);
  }
  for (const Somebody& waiter : queue) {
    WaiterView wait;
    wait.position = view.queue.size() + 1;
    wait.owner = record_of(waiter);
    wait.session = session_of(waiter);
    wait.waited = seconds(100 - 10 * static_cast<int>(view.queue.size()));
    view.queue.push_back(wait);
  }
  return view;
}

std::string drawn(const Blocking& blocking, const BlockingTree& tree) {
  std::string text = blocking.parties()[tree.party].who.substr(0, 1);
  if (tree.in_ring) text += '!';
  if (tree.repeated) return text + '*';
  if (tree.waiting.empty()) return text;
  text += '(';
  for (const BlockingTree& below : tree.waiting) text += drawn(blocking, below);
  return text + ')';
}

// Each root with those who wait for it: "a(b(c)d)" is: b and d wait for a, c for b; '*' has been drawn already, '!' is
// part of a ring.
std::string forest(const Blocking& blocking) {
  std::string text;
  for (const std::size_t root : blocking.roots()) text += drawn(blocking, blocking.tree(root)) + ' ';
  for (const auto& ring : blocking.rings()) text += "ring " + drawn(blocking, blocking.tree(ring.front())) + ' ';
  return text;
}

std::string rings(const Blocking& blocking) {
  std::string text;
  for (const auto& ring : blocking.rings()) {
    for (const std::size_t party : ring) text += blocking.parties()[party].who.substr(0, 1);
    text += ' ';
  }
  return text;
}

const Somebody a{"a"}, b{"b"}, c{"c"}, d{"d"}, e{"e"};

TEST(CliBlocking, NobodyBlocksWhereNobodyWaits) {
  const Blocking blocking({monitor("P1", a), monitor("P2", b), monitor("P3", std::nullopt)});
  EXPECT_EQ(forest(blocking), "");
  EXPECT_EQ(blocking.worst(), std::nullopt);
}

TEST(CliBlocking, ChainGoesOverMonitors) {
  const Blocking blocking({monitor("P1", a, {b}), monitor("P2", b, {c}), monitor("P3", c, {d})});
  EXPECT_EQ(forest(blocking), "a(b(c(d))) ");
  const Weight weight = blocking.weight(blocking.roots().front());
  EXPECT_EQ(weight.parties, 3u);
  EXPECT_EQ(weight.depth, 3u);
  EXPECT_EQ(weight.longest, seconds(100));
  EXPECT_EQ(weight.total, seconds(300));
  EXPECT_EQ(blocking.worst(),
            "work of a (a/1/main) has held P1 for 4 min 10 s, for which work of b (b/1/main) waits and holds P2, for "
            "which work of c (c/1/main) waits and holds P3, for which work of d (d/1/main) waits; 3 wait in all, the "
            "longest for 1 min 40 s");
}

TEST(CliBlocking, OrderOfServiceIsNotThatOfArrival) {
  MonitorView view = monitor("P1", a, {b, c});
  view.queue[0].waited = seconds(1);  // of the foreground, say
  EXPECT_EQ(forest(Blocking({view})), "a(bc) ");
}

TEST(CliBlocking, FanHasOneRootAndKeepsTheOrderOfService) {
  const Blocking blocking({monitor("P1", a, {b, c, d})});
  EXPECT_EQ(forest(blocking), "a(bcd) ");
  EXPECT_EQ(blocking.worst(),
            "work of a (a/1/main) has held P1 for 4 min 10 s, for which work of b (b/1/main) waits; 3 wait in all, the "
            "longest for 1 min 40 s");
}

TEST(CliBlocking, HeaviestRootComesFirst) {
  const Blocking blocking({monitor("P1", a, {b}), monitor("P2", c, {d, e})});
  EXPECT_EQ(forest(blocking), "c(de) a(b) ");
}

// A set waits in one queue, pieces of asynchronous work of one thread in several.
TEST(CliBlocking, DiamondCountsItsFootOnce) {
  const Blocking blocking({monitor("P1", a, {b, c}), monitor("P2", b, {d}), monitor("P3", c, {d})});
  EXPECT_EQ(forest(blocking), "a(b(d)c(d*)) ");
  EXPECT_EQ(blocking.weight(blocking.roots().front()).parties, 3u);
}

TEST(CliBlocking, RingIsNamedAndComesBeforeHeavierRoots) {
  const Blocking blocking({monitor("P1", a, {b}), monitor("P2", b, {a, d}), monitor("P3", c, {e, e, e, e})});
  EXPECT_EQ(rings(blocking), "ab ");
  EXPECT_EQ(forest(blocking), "c(e) ring a!(b!(a!*d)) ");
  EXPECT_EQ(blocking.worst(),
            "work of a (a/1/main) waits for P2, held by work of b (b/1/main), who waits for P1, held by work of a "
            "(a/1/main): none of them goes on until one gives up");
}

TEST(CliBlocking, ShortestOfRingsThatShareAParty) {
  const Blocking blocking({monitor("P1", a, {b, c}), monitor("P2", b, {c}), monitor("P3", c, {a}),
                           monitor("P4", d, {e}), monitor("P5", e, {d})});
  ASSERT_EQ(blocking.rings().size(), 2u);
  EXPECT_EQ(blocking.rings()[0].size(), 2u) << rings(blocking);
  EXPECT_EQ(blocking.rings()[1].size(), 2u) << rings(blocking);
}

TEST(CliBlocking, LongRingIsFoundWholeAndThoseBehindItAreNotPartOfIt) {
  std::vector<MonitorView> monitors;
  constexpr int many = 500;
  const auto party = [](int i) { return Somebody{std::string(1, static_cast<char>('a' + i % 26)), std::to_string(i)}; };
  for (int i = 0; i < many; ++i) monitors.push_back(monitor(std::to_string(i), party(i), {party((i + 1) % many)}));
  monitors[0].queue.push_back(monitor("x", std::nullopt, {e}).queue[0]);
  const Blocking blocking(monitors);
  ASSERT_EQ(blocking.rings().size(), 1u);
  EXPECT_EQ(blocking.rings()[0].size(), static_cast<std::size_t>(many));
  EXPECT_TRUE(blocking.roots().empty());
}

TEST(CliBlocking, MembersOfASetAreOneParty) {
  const Somebody set{"b", "s1"}, other{"b", "s2"};
  const Blocking blocking({monitor("P1", a, {set}), monitor("P2", set, {c}), monitor("P3", other, {d})});
  EXPECT_EQ(forest(blocking), "a(b(c)) b(d) ");
}

TEST(CliBlocking, ThreadsOfOneProcessAreNotOneParty) {
  std::vector<MonitorView> monitors{monitor("P1", a, {b}), monitor("P2", b, {a})};
  monitors[1].queue[0].owner->instance = "a/1/second";
  const Blocking blocking(monitors);
  EXPECT_EQ(rings(blocking), "");
  EXPECT_EQ(forest(blocking), "a(b(a)) ");
}

TEST(CliBlocking, HolderWithoutRecordIsKnownByItsSession) {
  const Somebody silent{"x", {}, false};
  const Blocking blocking({monitor("P1", silent, {b}), monitor("P2", c, {silent})});
  EXPECT_EQ(forest(blocking), "c(a(b)) ");
  EXPECT_EQ(blocking.parties()[0].who, "a client without a record");
}

TEST(CliBlocking, SeveralWaitersOfOneProcessAreOneParty) {
  const Blocking blocking({monitor("P1", a, {b, b, b})});
  EXPECT_EQ(forest(blocking), "a(b) ");
  EXPECT_EQ(blocking.weight(0).parties, 1u);
  EXPECT_EQ(blocking.weight(0).total, seconds(270));
}

// Asynchronous work shares a thread: that is no ring.
TEST(CliBlocking, WaitForWhatTheSameThreadHoldsIsNoRing) {
  const Blocking blocking({monitor("P1", a, {a})});
  EXPECT_EQ(rings(blocking), "");
  EXPECT_EQ(blocking.worst(),
            "work of a (a/1/main) has held P1 for 4 min 10 s, for which it waits itself, the longest for 1 min 40 s");
}

// It may be the one that does not take it.
TEST(CliBlocking, FirstWaiterOfAFreeMonitorIsTheRoot) {
  const Blocking blocking({monitor("P1", std::nullopt, {a, b})});
  EXPECT_EQ(forest(blocking), "a(b) ");
  EXPECT_EQ(blocking.worst(),
            "work of a (a/1/main) is next at P1, which is free, for which work of b (b/1/main) waits, the longest for "
            "1 min 30 s");
}

TEST(CliBlocking, ReleaseSaysWhoIsNextAndWhatStays) {
  const std::vector<MonitorView> monitors{monitor("P1", a, {b, c}), monitor("P2", a), monitor("P3", d, {b})};
  const Blocking blocking(monitors);
  const AfterRelease after = blocking.after_release(monitors[0]);
  ASSERT_TRUE(after.next);
  EXPECT_EQ(blocking.parties()[*after.next].who, "b/1/main");
  EXPECT_EQ(after.moving_up, 2u);
  EXPECT_EQ(after.kept, std::vector<std::string>{"P2"});
  EXPECT_EQ(after.needed, std::vector<std::string>{"P3"});
  EXPECT_EQ(blocking.after_release(monitors[1]).next, std::nullopt);
}

TEST(CliBlocking, TreeIsBounded) {
  std::vector<Somebody> queue;
  for (std::size_t i = 0; i < Blocking::max_tree_parties + 7; ++i) queue.push_back({"b", std::to_string(i)});
  const Blocking blocking({monitor("P1", a, queue)});
  const BlockingTree tree = blocking.tree(blocking.roots().front());
  EXPECT_EQ(tree.waiting.size(), Blocking::max_tree_parties);
  EXPECT_EQ(tree.left_out, 7u);
  EXPECT_EQ(blocking.weight(tree.party).parties, Blocking::max_tree_parties + 7);
}

}  // namespace
}  // namespace forelock::cli
