// Which ensemble a monitor lives in: for ever the same, evenly, and with few moves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "ensembles/ensemble_map.h"

namespace forelock::ensembles {
namespace {

using ::testing::ElementsAre;

EnsembleMap map_of(std::size_t ensembles) {
  std::vector<std::string> identities;
  for (std::size_t i = 0; i < ensembles; ++i) identities.push_back("zk" + std::to_string(i) + ":2181/forelock");
  return EnsembleMap(identities);
}

std::string monitor(int number) {
  return "document-" + std::to_string(number);
}

TEST(EnsembleHash, IsThatOfItsAuthors) {
  // From http://www.isthe.com/chongo/tech/comp/fnv/ and the reference code of MurmurHash3.
  EXPECT_EQ(fnv1a64(""), 0xcbf29ce484222325u);
  EXPECT_EQ(fnv1a64("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(fnv1a64("foobar"), 0x85944171f73967e8u);
  EXPECT_EQ(mix64(0), 0u);
  EXPECT_EQ(mix64(1), 0xb456bcfc34c2cb2cu);
}

TEST(EnsembleIdentity, DoesNotDependOnHowTheServersAreWritten) {
  EXPECT_EQ(identity_of({{"zk2", 2181}, {"ZK1", 2182}, {"::1", 5}}, "/a"), "[::1]:5,zk1:2182,zk2:2181/a");
  EXPECT_EQ(identity_of({{"zk1", 1}, {"zk1", 1}}, ""), "zk1:1");
}

// What other processes, machines and versions compute: never to be changed.
TEST(EnsembleMapTest, FindsEachMonitorWhereItHasAlwaysBeen) {
  const EnsembleMap map({"b:2181/ns", "a:2181,a2:2181/ns", "c:2181/ns"});
  EXPECT_THAT(map.identities(), ElementsAre("a:2181,a2:2181/ns", "b:2181/ns", "c:2181/ns"));
  EXPECT_EQ(map.fingerprint(), "685c97bb7fe1fe51");
  std::string homes;
  for (int i = 0; i < 32; ++i) homes += std::to_string(map.home_of(monitor(i)));
  EXPECT_EQ(homes, "20200000222102110110222101022100");
  EXPECT_EQ(map.home_of("%7Aookeeper"), 2u);
  EXPECT_EQ(map.home_of("Ä"), 2u);
}

TEST(EnsembleMapTest, DoesNotDependOnTheOrderOfTheEnsembles) {
  const EnsembleMap one({"a:1", "b:1", "c:1"});
  const EnsembleMap other({"c:1", "a:1", "b:1"});
  EXPECT_EQ(one.fingerprint(), other.fingerprint());
  for (int i = 0; i < 100; ++i) EXPECT_EQ(one.home_of(monitor(i)), other.home_of(monitor(i)));
  EXPECT_NE(one.fingerprint(), EnsembleMap({"a:1", "b:1"}).fingerprint());
  EXPECT_NE(one.fingerprint(), EnsembleMap({"a:1", "b:1", "c:2"}).fingerprint());
}

TEST(EnsembleMapTest, OneEnsembleHasAll) {
  const EnsembleMap map({"a:1"});
  for (int i = 0; i < 100; ++i) EXPECT_EQ(map.home_of(monitor(i)), 0u);
}

// Within five standard deviations of an equal part: numbered names, the hardest that people choose.
TEST(EnsembleMapTest, EachEnsembleHasAnEqualPart) {
  constexpr int monitors = 100'000;
  for (const std::size_t ensembles : {2u, 3u, 5u, 16u}) {
    const EnsembleMap map = map_of(ensembles);
    std::vector<int> parts(ensembles);
    for (int i = 0; i < monitors; ++i) ++parts[map.home_of(monitor(i))];
    const double part = static_cast<double>(monitors) / static_cast<double>(ensembles);
    for (const int count : parts) EXPECT_NEAR(count, part, 5 * std::sqrt(part)) << ensembles;
  }
}

TEST(EnsembleMapTest, AnEnsembleThatGoesMovesItsOwnMonitorsAlone) {
  const EnsembleMap before = map_of(4);
  for (std::size_t gone = 0; gone < 4; ++gone) {
    std::vector<std::string> left = before.identities();
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(gone));
    const EnsembleMap after(left);
    std::vector<int> inherited(after.size());
    for (int i = 0; i < 10'000; ++i) {
      const std::size_t home = before.home_of(monitor(i));
      const std::size_t now = after.home_of(monitor(i));
      if (home == gone) {
        ++inherited[now];
      } else {
        EXPECT_EQ(after.identities()[now], before.identities()[home]) << monitor(i);
      }
    }
    for (const int count : inherited) EXPECT_NEAR(count, 2500 / 3, 150) << "they are spread over the others";
  }
}

}  // namespace
}  // namespace forelock::ensembles
