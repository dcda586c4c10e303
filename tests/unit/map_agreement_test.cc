// How clients find out that all of them have the same map of ensembles.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ensembles/map_agreement.h"
#include "ensembles/map_record.h"

namespace forelock::ensembles {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Step = MapAgreement::Step;

// The node of each ensemble, as the servers have it.
struct Servers {
  struct Node {
    std::string data;
    int version = 0;
  };
  std::map<std::string, Node> nodes;

  std::optional<std::string> read(const std::string& ensemble) const {
    const auto found = nodes.find(ensemble);
    return found == nodes.end() ? std::nullopt : std::optional(found->second.data);
  }
};

// A client that reaches the ensembles that it is told of.
class Client {
 public:
  explicit Client(Servers& servers, std::vector<std::string> ensembles)
      : servers_(servers), agreement_(EnsembleMap(std::move(ensembles))), reached_(agreement_.map().size()) {}

  void reach(std::size_t ensemble) {
    reached_[ensemble] = true;
    look(ensemble);
  }
  void reach_all() {
    for (std::size_t i = 0; i < reached_.size(); ++i) reach(i);
  }
  void look(std::size_t ensemble) {
    const std::string& name = agreement_.map().identities()[ensemble];
    const auto data = servers_.read(name);
    agreement_.saw(ensemble, data, data ? servers_.nodes[name].version : 0);
  }
  // One step of one ensemble. False if there is none.
  bool step() {
    for (std::size_t i = 0; i < reached_.size(); ++i) {
      if (reached_[i] && step(i)) return true;
    }
    return false;
  }
  bool step(std::size_t i) {
    const std::string& name = agreement_.map().identities()[i];
    switch (agreement_.next_step(i)) {
      case Step::none:
        return false;
      case Step::look:
        look(i);
        return true;
      case Step::make:
        if (!servers_.nodes.emplace(name, Servers::Node{agreement_.data(i)}).second) {
          agreement_.changed(i);
        } else {
          agreement_.made(i);
        }
        return true;
      case Step::mark:
        if (servers_.nodes[name].version != agreement_.version(i)) {
          agreement_.changed(i);
        } else {
          servers_.nodes[name] = {agreement_.data(i), agreement_.version(i) + 1};
          agreement_.marked(i);
        }
        return true;
    }
    return false;
  }
  void settle() {
    while (step()) continue;
  }
  std::string served() const {
    std::string text;
    for (std::size_t i = 0; i < reached_.size(); ++i) {
      text += reached_[i] && agreement_.may_serve(i) ? "+" : "-";
    }
    return text;
  }
  MapAgreement& agreement() { return agreement_; }

 private:
  Servers& servers_;
  MapAgreement agreement_;
  std::vector<bool> reached_;
};

TEST(MapRecordTest, IsReadAsItWasWritten) {
  const EnsembleMap map({"a:1/x", "b:1/x"});
  const MapRecord record = record_of(map, 1, true);
  EXPECT_EQ(to_json(record), R"({"agreed":true,"ensemble":"b:1/x","ensembles":["a:1/x","b:1/x"],"fingerprint":")" +
                                 map.fingerprint() + R"(","method":"rendezvous-fnv1a64-mix64"})");
  EXPECT_EQ(map_record_from_json(to_json(record)), record);
  for (const char* other : {"", "{}", "[]", "x", "{\"ensembles\":[]}", "{\"ensemble\":1}", "null",
                            R"({"ensemble":"a","ensembles":[1],"fingerprint":"f","method":"m"})"}) {
    EXPECT_EQ(map_record_from_json(other), std::nullopt) << other;
  }
  EXPECT_EQ(map_record_from_json(std::string(100'000, '[')), std::nullopt);
}

TEST(MapAgreementTest, AClientThatLooksMakesAndMarksNothing) {
  Servers servers;
  Client looks(servers, {"a", "b"});
  looks.agreement().only_look();
  EXPECT_EQ(looks.served(), "--");
  looks.reach(0);
  looks.settle();
  EXPECT_EQ(looks.served(), "+-") << "there is nothing in it, and that can be seen";
  looks.reach(1);
  looks.settle();
  EXPECT_EQ(looks.served(), "++");
  EXPECT_TRUE(servers.nodes.empty());

  Client first(servers, {"a", "b"});
  first.reach_all();
  EXPECT_TRUE(first.step());
  EXPECT_TRUE(first.step());  // both are made, and none is marked
  looks.reach_all();
  looks.settle();
  EXPECT_EQ(looks.served(), "++");
  for (const auto& [name, node] : servers.nodes) EXPECT_EQ(node.version, 0) << name;

  Client other(servers, {"a", "c"});
  other.agreement().only_look();
  other.reach_all();
  EXPECT_EQ(other.served(), "--");
  EXPECT_TRUE(other.agreement().refusal());
}

TEST(MapAgreementTest, TheFirstClientMakesTheNodesAndServesWhenAllAreMade) {
  Servers servers;
  Client client(servers, {"b", "a", "c"});
  client.reach_all();
  EXPECT_EQ(client.served(), "---");
  EXPECT_TRUE(client.step());
  EXPECT_EQ(servers.nodes.size(), 1u) << "one after the other";
  EXPECT_EQ(client.served(), "---");
  client.settle();
  EXPECT_EQ(client.served(), "+++");
  for (const auto& [name, node] : servers.nodes) {
    const auto record = map_record_from_json(node.data);
    ASSERT_TRUE(record);
    EXPECT_EQ(record->ensemble, name);
    EXPECT_TRUE(record->agreed);
  }
}

TEST(MapAgreementTest, NothingIsWrittenBeforeAllHaveBeenLookedAt) {
  Servers servers;
  Client client(servers, {"a", "b"});
  client.reach(0);
  client.settle();
  EXPECT_TRUE(servers.nodes.empty());
  EXPECT_EQ(client.served(), "--");
  EXPECT_THAT(client.agreement().not_seen(), ElementsAre(0u, 1u));
  EXPECT_EQ(client.agreement().refusal(), std::nullopt);
  client.reach(1);
  client.settle();
  EXPECT_EQ(client.served(), "++");
}

TEST(MapAgreementTest, ALaterClientServesWhatItReaches) {
  Servers servers;
  Client first(servers, {"a", "b"});
  first.reach_all();
  first.settle();
  Client later(servers, {"a", "b"});
  later.reach(1);
  EXPECT_EQ(later.served(), "-+");
}

TEST(MapAgreementTest, AProposalAloneIsNotEnough) {
  Servers servers;
  Client first(servers, {"a", "b"});
  first.reach_all();
  EXPECT_TRUE(first.step(0));  // and is gone
  Client later(servers, {"a", "b"});
  later.reach(0);
  later.settle();
  EXPECT_EQ(later.served(), "--");
  later.reach(1);
  later.settle();
  EXPECT_EQ(later.served(), "++");
}

TEST(MapAgreementTest, AnotherMapIsRefusedAndNothingIsWritten) {
  Servers servers;
  Client first(servers, {"a", "b"});
  first.reach_all();
  first.settle();
  Client other(servers, {"b", "c"});
  other.reach(1);
  other.settle();
  EXPECT_EQ(other.served(), "--") << "c alone says nothing";
  other.reach(0);
  other.settle();
  EXPECT_EQ(other.served(), "--");
  EXPECT_EQ(servers.nodes.size(), 2u);
  ASSERT_TRUE(other.agreement().refusal());
  EXPECT_THAT(*other.agreement().refusal(), HasSubstr("b belongs to the ensembles a|b"));
  EXPECT_THAT(*other.agreement().refusal(), HasSubstr("of this client names b|c"));
  EXPECT_TRUE(other.agreement().differs(0));
  EXPECT_FALSE(other.agreement().differs(1));

  servers.nodes.erase("b");  // by an operator
  other.look(0);
  EXPECT_EQ(other.agreement().refusal(), std::nullopt);
  other.settle();
  EXPECT_EQ(other.served(), "++");
}

// All interleavings of two clients whose maps have an ensemble in common: at most one of them serves a lock.
TEST(MapAgreementTest, TwoMapsAreNeverServedTogether) {
  const std::vector<std::pair<std::vector<std::string>, std::vector<std::string>>> pairs = {
      {{"a", "b"}, {"a", "b", "c"}}, {{"a", "c"}, {"b", "c"}}, {{"a", "b"}, {"b", "c"}}, {{"b", "c"}, {"a", "b"}}};
  for (const auto& [one, two] : pairs) {
    for (unsigned order = 0; order < (1u << 14); ++order) {
      Servers servers;
      Client first(servers, one);
      Client second(servers, two);
      std::size_t reached[2] = {0, 0};
      for (unsigned turn = 0; turn < 14; ++turn) {
        const bool is_first = (order >> turn & 1) != 0;
        Client& client = is_first ? first : second;
        std::size_t& next = reached[is_first ? 0 : 1];
        if (next < client.agreement().map().size()) {
          client.reach(next++);
        } else {
          client.step();
        }
        const bool both =
            first.served().find('+') != std::string::npos && second.served().find('+') != std::string::npos;
        ASSERT_FALSE(both) << order;
      }
    }
  }
}

TEST(MapAgreementTest, ExchangedNamesAreRefused) {
  Servers servers;
  Client first(servers, {"a", "b"});
  first.reach_all();
  first.settle();
  std::swap(servers.nodes["a"], servers.nodes["b"]);  // the names lead elsewhere
  Client later(servers, {"a", "b"});
  later.reach_all();
  later.settle();
  EXPECT_EQ(later.served(), "--");
  ASSERT_TRUE(later.agreement().refusal());
  EXPECT_THAT(*later.agreement().refusal(), HasSubstr("the servers a are those of the ensemble b"));
}

TEST(MapAgreementTest, WhatIsNotUnderstoodIsRefused) {
  Servers servers;
  servers.nodes["a"] = {"{\"version\": 2}"};
  Client client(servers, {"a", "b"});
  client.reach_all();
  client.settle();
  EXPECT_EQ(client.served(), "--");
  EXPECT_THAT(client.agreement().refusal().value_or(""), HasSubstr("/%forelock-ensembles of a"));
}

TEST(MapAgreementTest, AClientOfOneEnsembleIsRefusedInOneOfSeveral) {
  const EnsembleMap map({"a", "b"});
  EXPECT_THAT(difference("a", to_json(record_of(map, 0, true))).value_or(""),
              HasSubstr("a is one of the ensembles a|b"));
  EXPECT_EQ(difference("a", to_json(record_of(EnsembleMap({"a"}), 0, true))), std::nullopt);
  EXPECT_THAT(difference("a", to_json(record_of(map, 0, false))).value_or(""), HasSubstr("never agreed on"));
  EXPECT_EQ(difference("a", to_json(record_of(map, 0, true)))->find("never agreed on"), std::string::npos);
  EXPECT_THAT(difference("a", "x").value_or(""), HasSubstr("no map"));
}

}  // namespace
}  // namespace forelock::ensembles
