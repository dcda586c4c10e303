// What must be read of a monitor that has been listed, and what follows from it: cli/serve/look/namespace_image.h.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "cli/serve/look/locks_of_threads.h"
#include "cli/serve/look/namespace_image.h"
#include "forelock/owner_record.h"

namespace forelock::cli {
namespace {

using namespace std::chrono_literals;

using coordination::Reply;
using coordination::ReplyCode;

constexpr WallTime first_noon{std::chrono::milliseconds(1'800'000'000'000)};

OwnerRecord image_record(const std::string& who) {
  OwnerRecord record;
  record.instance = who;
  record.guid = "guid of " + who;
  record.enqueued_at = first_noon;
  record.stack = {"lock_all at set.cc:7", "main at main.cc:3"};
  return record;
}

// A server with monitors, as far as they are read here.
class ImageServers {
 public:
  struct Node {
    std::string data;
    std::int64_t session = 1;
    std::int32_t version = 0;
  };

  void create(const std::string& monitor) { monitors_[monitor].stat.czxid = ++zxid_; }
  void put(const std::string& monitor, const std::string& child, const OwnerRecord& record, std::int64_t session) {
    monitors_[monitor].nodes[child] = {record.to_json(), session, 0};
    touch(monitor);
  }
  void set(const std::string& monitor, const std::string& child, const OwnerRecord& record) {
    Node& node = monitors_[monitor].nodes.at(child);
    node.data = record.to_json();
    ++node.version;
  }
  void remove(const std::string& monitor, const std::string& child) {
    monitors_[monitor].nodes.erase(child);
    touch(monitor);
  }

  Reply list(const std::string& monitor) {
    Reply reply;
    reply.stat = monitors_[monitor].stat;
    for (const auto& [name, node] : monitors_[monitor].nodes) reply.children.push_back(name);
    return reply;
  }
  Reply get(const std::string& monitor, const std::string& child) {
    Reply reply;
    const auto node = monitors_[monitor].nodes.find(child);
    if (node == monitors_[monitor].nodes.end()) {
      reply.code = ReplyCode::no_node;
      return reply;
    }
    reply.data = node->second.data;
    reply.stat.ephemeral_owner = node->second.session;
    reply.stat.version = node->second.version;
    reply.stat.mzxid = 100 + node->second.version;
    return reply;
  }

 private:
  struct Monitor {
    coordination::Stat stat;
    std::map<std::string, Node> nodes;
  };
  void touch(const std::string& monitor) {
    monitors_[monitor].stat.pzxid = ++zxid_;
    ++monitors_[monitor].stat.cversion;
  }
  std::map<std::string, Monitor> monitors_;
  std::int64_t zxid_ = 1;
};

class ImageTest : public testing::Test {
 protected:
  // Lists and reads it. \returns what was read.
  std::vector<std::string> read(const std::string& monitor, bool* changed = nullptr) {
    NamespaceImage::Reading reading = image_.begin(monitor, servers_.list(monitor));
    std::vector<std::string> wanted = reading.wanted;
    for (const std::string& child : wanted) reading.nodes.push_back(servers_.get(monitor, child));
    now_ += 1s;
    const bool news = image_.end(std::move(reading), now_);
    if (changed != nullptr) *changed = news;
    std::sort(wanted.begin(), wanted.end());
    return wanted;
  }
  const MonitorView& view(const std::string& monitor) {
    const auto sightings = image_.sightings();
    for (const SharedSighting& sighting : *sightings) {
      if (sighting->monitor() == monitor) return sighting->view();
    }
    static const MonitorView none;
    return none;
  }

  ImageServers servers_;
  NamespaceImage image_{Settings()};
  WallTime now_ = first_noon + 1h;
};

using ImageNames = std::vector<std::string>;

TEST_F(ImageTest, ServersThatWereSetBackAreBelievedInAnotherSession) {
  servers_.create("P1");
  servers_.put("P1", "privateLock", image_record("a/1/main"), 1);
  read("P1");
  servers_ = ImageServers();  // and the same numbers are given again
  servers_.create("P1");
  servers_.put("P1", "privateLock", image_record("b/2/main"), 2);
  EXPECT_EQ(read("P1"), ImageNames{}) << "in the same session that cannot be";
  image_.read_all_anew();
  bool changed = false;
  EXPECT_EQ(read("P1", &changed), ImageNames{"privateLock"});
  EXPECT_TRUE(changed);
  EXPECT_EQ(view("P1").holder->owner->instance, "b/2/main");
  EXPECT_EQ(read("P1", &changed), ImageNames{});
}

TEST_F(ImageTest, ReadsEachWaiterOnce) {
  servers_.create("P1");
  servers_.put("P1", "A-0000000000", image_record("a"), 1);
  servers_.put("P1", "privateLock", image_record("a"), 1);
  servers_.put("P1", "B-0000000001", image_record("b"), 2);
  EXPECT_EQ(read("P1"), (ImageNames{"A-0000000000", "B-0000000001", "privateLock"}));
  servers_.put("P1", "B-0000000002", image_record("c"), 3);
  EXPECT_EQ(read("P1"), (ImageNames{"A-0000000000", "B-0000000002", "privateLock"}));
  ASSERT_EQ(view("P1").queue.size(), 2U);
  EXPECT_EQ(view("P1").queue[0].owner->instance, "b");
  EXPECT_EQ(view("P1").queue[0].session, 2);
  EXPECT_EQ(view("P1").queue[1].behind, "B-0000000001");
  EXPECT_EQ(view("P1").holder->node, "A-0000000000");
  EXPECT_EQ(view("P1").queue[0].waited, now_ - first_noon) << "as it is now, though it was read before";
}

TEST_F(ImageTest, WhatHasNotChangedIsNotReadAgain) {
  servers_.create("P1");
  servers_.put("P1", "A-0000000000", image_record("a"), 1);
  servers_.put("P1", "privateLock", image_record("a"), 1);
  bool changed = false;
  read("P1", &changed);
  EXPECT_TRUE(changed);
  const auto before = image_.sightings();
  EXPECT_EQ(image_.take_changed(), std::set<std::string>{"P1"});
  EXPECT_EQ(read("P1", &changed), ImageNames{});
  EXPECT_FALSE(changed);
  EXPECT_EQ(image_.sightings(), before) << "the same object";
  EXPECT_TRUE(image_.take_changed().empty());
}

TEST_F(ImageTest, AHolderThatMayGoOnIsReadAgain) {
  servers_.create("P1");
  OwnerRecord holder = image_record("a");
  holder.alert_at = first_noon;
  servers_.put("P1", "A-0000000000", holder, 1);
  servers_.put("P1", "privateLock", holder, 1);
  read("P1");
  EXPECT_TRUE(NamespaceImage::wants_watch(servers_.get("P1", "privateLock")));
  image_.take_changed();
  bool changed = true;
  EXPECT_EQ(read("P1", &changed), ImageNames{"privateLock"});
  EXPECT_FALSE(changed);
  holder.alert_at = first_noon + 2h;
  servers_.set("P1", "privateLock", holder);
  EXPECT_EQ(read("P1", &changed), ImageNames{"privateLock"});
  EXPECT_TRUE(changed);
  EXPECT_EQ(view("P1").holder->owner->alert_at, first_noon + 2h);
  EXPECT_EQ(view("P1").holder->node, "A-0000000000") << "though it was not read again";
  EXPECT_TRUE(view("P1").queue.empty());
}

TEST_F(ImageTest, NodesOfAnotherMonitorOfTheSameNameAreRead) {
  servers_.create("P1");
  servers_.put("P1", "privateLock", image_record("a"), 1);
  servers_.put("P1", "B-0000000001", image_record("b"), 2);
  read("P1");
  servers_.remove("P1", "B-0000000001");
  servers_.create("P1");  // deleted, and made anew
  servers_.put("P1", "B-0000000001", image_record("other"), 5);
  EXPECT_EQ(read("P1"), (ImageNames{"B-0000000001", "privateLock"}));
  EXPECT_EQ(view("P1").queue[0].owner->instance, "other");
}

TEST_F(ImageTest, NodesThatHaveGoneMeanwhileAreLeftOut) {
  servers_.create("P1");
  servers_.put("P1", "A-0000000000", image_record("a"), 1);
  servers_.put("P1", "A-0000000001", image_record("b"), 1);
  NamespaceImage::Reading reading = image_.begin("P1", servers_.list("P1"));
  servers_.remove("P1", "A-0000000000");
  for (const std::string& child : reading.wanted) reading.nodes.push_back(servers_.get("P1", child));
  image_.end(std::move(reading), now_);
  ASSERT_EQ(view("P1").queue.size(), 1U);
  EXPECT_EQ(view("P1").queue[0].node, "A-0000000001");
}

TEST_F(ImageTest, OtherApplicationsNodesAreLeftOutUntilTheyAreMonitors) {
  servers_.create("brokers");
  servers_.put("brokers", "ids", image_record("x"), 0);
  EXPECT_EQ(read("brokers"), ImageNames{});
  EXPECT_TRUE(image_.sightings()->empty());
  EXPECT_TRUE(image_.take_changed().empty());
  servers_.remove("brokers", "ids");
  read("brokers");
  EXPECT_EQ(image_.sightings()->size(), 1U);
}

TEST_F(ImageTest, WhatHasGoneIsToldAndTheOrderIsThatOfTheIds) {
  for (const char* name : {"P3", "P1", "P2"}) {
    servers_.create(name);
    servers_.put(name, "privateLock", image_record(name), 1);
    read(name);
  }
  const auto ids = [this] {
    ImageNames names;
    for (const SharedSighting& sighting : *image_.sightings()) names.push_back(sighting->monitor());
    return names;
  };
  EXPECT_EQ(ids(), (ImageNames{"P1", "P2", "P3"}));
  image_.take_changed();
  image_.forget("P2");
  EXPECT_EQ(ids(), (ImageNames{"P1", "P3"}));
  image_.keep({"P3"});
  EXPECT_EQ(ids(), ImageNames{"P3"});
  EXPECT_EQ(image_.take_changed(), (std::set<std::string>{"P1", "P2"}));
}

TEST_F(ImageTest, EqualStacksAreKeptOnce) {
  for (const char* name : {"P1", "P2"}) {
    servers_.create(name);
    servers_.put(name, "privateLock", image_record(name), 1);
    servers_.put(name, "B-0000000001", image_record("waiter"), 2);
    read(name);
  }
  const auto sightings = image_.sightings();
  EXPECT_EQ(&(*sightings)[0]->stack(), &(*sightings)[1]->stack());
  EXPECT_TRUE((*sightings)[0]->view().holder->owner->stack.empty());
  const MonitorView full = (*sightings)[0]->full(now_ + 5s);
  EXPECT_EQ(full.holder->owner->stack, image_record("").stack);
  EXPECT_EQ(full.queue[0].owner->stack, image_record("").stack);
  servers_.remove("P1", "privateLock");
  read("P1");
  EXPECT_EQ(image_.sightings()->front()->full(now_).queue[0].owner->stack, image_record("").stack)
      << "of one that was not read again";
}

TEST_F(ImageTest, DurationsGoOn) {
  servers_.create("P1");
  servers_.put("P1", "privateLock", image_record("a"), 1);
  servers_.put("P1", "B-0000000001", image_record("b"), 2);
  read("P1");
  const SharedSighting sighting = image_.sightings()->front();
  const auto then = sighting->full(now_).queue[0].waited;
  EXPECT_EQ(sighting->full(now_ + 5s).queue[0].waited, then + 5s);
  EXPECT_EQ(*sighting->summary(now_ + 5s).oldest_wait, then + 5s);
  EXPECT_EQ(sighting->full(now_ - 5s).queue[0].waited, then) << "a clock that was put back";
}

TEST_F(ImageTest, AllLocksOfTheThreadsThatHaveChangedAreGivenAndNobodyElses) {
  const auto add = [this](const std::string& monitor, const std::string& holder, const std::string& waiter) {
    servers_.create(monitor);
    servers_.put(monitor, "privateLock", image_record(holder), 1);
    if (!waiter.empty()) servers_.put(monitor, "B-0000000001", image_record(waiter), 2);
    read(monitor);
  };
  add("P1", "a", "");
  add("P2", "a", "b");
  add("P3", "c", "");
  const std::set<std::string> changed{"P1", "gone"};
  const auto views = locks_of_threads(*image_.sightings(), &changed, now_);
  ASSERT_EQ(views.size(), 2U);
  EXPECT_EQ(views[0].monitor, "P1");
  EXPECT_EQ(views[0].holder->owner->stack, image_record("a").stack);
  EXPECT_EQ(views[1].monitor, "P2");
  EXPECT_EQ(views[1].holder->owner->instance, "a");
  EXPECT_FALSE(views[1].queue[0].owner) << "not all of its locks are here";
  EXPECT_EQ(locks_of_threads(*image_.sightings(), nullptr, now_).size(), 2U) << "who has one lock has nested none";
  const std::set<std::string> none;
  EXPECT_TRUE(locks_of_threads(*image_.sightings(), &none, now_).empty());
}

}  // namespace
}  // namespace forelock::cli
