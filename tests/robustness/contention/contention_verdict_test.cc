#include "robustness/contention/contention_verdict.h"
#include "support/test.h"

namespace forelock::robustness {
namespace {

class ContentionVerdictTest : public ::testing::Test {
 protected:
  // Two clients, a sample every second.
  ContentionVerdictTest() {
    for (int i = 0; i < 100; ++i) {
      ContentionSample sample{static_cast<double>(i), 20 + i % 5, 20, {}};
      for (int client = 0; client < 2; ++client) {
        sample.clients.push_back(
            {{"memory_kib", 9000}, {"descriptors", 12}, {"sections", 100 * i}, {"requests", 600 * i}});
      }
      samples.push_back(std::move(sample));
    }
    end.idle_watches = 6;
    end.idle_nodes = 12;
    end.clients.assign(2, {true, true, true, 0, 3, 20, 2500});
  }
  std::vector<std::string> violations() const { return judge_contention(samples, end).violations; }
  void each_sample(const std::function<void(int, ContentionSample&)>& change) {
    for (int i = 0; i < 100; ++i) change(i, samples[static_cast<std::size_t>(i)]);
  }

  std::vector<ContentionSample> samples;
  ContentionEnd end;
};

TEST_F(ContentionVerdictTest, FlatIsWell) {
  const ContentionVerdict verdict = judge_contention(samples, end);
  EXPECT_THAT(verdict.violations, IsEmpty());
  EXPECT_EQ(verdict.sections, 2 * 9900);
  EXPECT_EQ(verdict.most_watches, 24);
  EXPECT_EQ(verdict.changes.at("requests per section").second, 6);
  EXPECT_THAT(verdict.json(end), HasSubstr(R"("idle_watches":6,)"));
}

TEST_F(ContentionVerdictTest, WatchesLeak) {
  each_sample([](int i, ContentionSample& sample) { sample.watches = 30 + i; });
  EXPECT_THAT(violations(), ElementsAre(HasSubstr("watches of busy clients, after 99 s: 129, allowed are 48"),
                                        HasSubstr("watches grew from")));
}

TEST_F(ContentionVerdictTest, FewWatchesThatStay) {
  end.idle_watches = 17;
  EXPECT_THAT(violations(), ElementsAre(HasSubstr("watches of idle clients: 17, allowed are 16")));
}

TEST_F(ContentionVerdictTest, NodesPileUp) {
  end.idle_nodes = 41;
  each_sample([](int i, ContentionSample& sample) { sample.nodes = 20 + i; });
  EXPECT_THAT(violations(), ElementsAre(HasSubstr("nodes when all are idle"), HasSubstr("nodes grew from")));
}

TEST_F(ContentionVerdictTest, OneClientGrows) {
  each_sample([](int i, ContentionSample& sample) {
    sample.clients[1]["memory_kib"] += 100 * i;
    sample.clients[0]["descriptors"] += i / 10;
  });
  EXPECT_THAT(violations(),
              ElementsAre(HasSubstr("memory_kib of client 2 grew"), HasSubstr("descriptors of client 1 grew")));
}

TEST_F(ContentionVerdictTest, SectionsCostMoreAndMore) {
  each_sample([](int i, ContentionSample& sample) { sample.clients[0]["requests"] += 20 * i * i; });
  EXPECT_THAT(violations(), ElementsAre(HasSubstr("requests per section grew")));
}

TEST_F(ContentionVerdictTest, AClientThatNeverGetsTheLock) {
  each_sample([this](int i, ContentionSample& sample) {
    if (i > 50) sample.clients[1] = samples[50].clients[1];
  });
  EXPECT_THAT(violations(), ElementsAre(HasSubstr("client 2 had no section in one half")));
}

TEST_F(ContentionVerdictTest, WhatIsWrongAfterTheRestart) {
  end.clients = {{false, false, false, 0, 0}, {true, false, false, 1, 21, 1}};
  EXPECT_THAT(violations(),
              ElementsAre(HasSubstr("client 1 does not answer"), HasSubstr("client 2 has lost its session"),
                          HasSubstr("client 2 cannot lock"), HasSubstr("client 2 has contenders left"),
                          HasSubstr("disconnections of client 2 by the servers' restart: 21")));
}

TEST_F(ContentionVerdictTest, BackgroundWorkStarves) {
  end.clients[0].aged = 0;
  end.clients[1].longest_wait_ms = 8001;
  EXPECT_THAT(violations(), ElementsAre(HasSubstr("background work of client 1 was never served"),
                                        HasSubstr("longest wait of background work of client 2, in ms: 8001")));
}

TEST_F(ContentionVerdictTest, TooShortIsNoEvidence) {
  samples.resize(3);
  EXPECT_THAT(violations(), ElementsAre(HasSubstr("too few samples")));
}

}  // namespace
}  // namespace forelock::robustness
