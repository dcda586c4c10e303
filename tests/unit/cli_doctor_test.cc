// What forelock doctor concludes from what the servers say.
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/doctor/doctor_ensemble.h"
#include "cli/doctor/doctor_wall.h"
#include "cli/exit_code.h"
#include "client/tls_setup.h"
#include "support/certificates.h"
#include "support/temporary_directory.h"
#include "support/test.h"

namespace forelock::cli {
namespace {

using Addresses = std::vector<std::string>;

TEST(DoctorAddresses, OfOneNameAreServers) {
  const Addresses pods{"10.0.0.1", "10.0.0.2", "10.0.0.3"};
  EXPECT_EQ(counted_addresses(pods, pods), pods);
  EXPECT_EQ(counted_addresses(pods, {"10.0.0.2"}), pods);
  EXPECT_EQ(counted_addresses(pods, {}), pods);
  EXPECT_EQ(counted_addresses({}, {}), Addresses{});
}

TEST(DoctorAddresses, OfTwoFamiliesAreTheSameServers) {
  EXPECT_EQ(counted_addresses({"::1", "127.0.0.1"}, {"127.0.0.1"}), Addresses{"127.0.0.1"});
  EXPECT_EQ(counted_addresses({"127.0.0.1", "::1"}, {"::1"}), Addresses{"::1"});
  EXPECT_EQ(counted_addresses({"::1", "127.0.0.1"}, {"::1", "127.0.0.1"}), Addresses{"::1"}) << "the first";
  EXPECT_EQ(counted_addresses({"127.0.0.1", "::1"}, {"::1", "127.0.0.1"}), Addresses{"127.0.0.1"}) << "the first";
  EXPECT_EQ(counted_addresses({"fd::1", "10.0.0.1", "10.0.0.2"}, {"fd::1", "10.0.0.1"}),
            (Addresses{"10.0.0.1", "10.0.0.2"}))
      << "of which there are more";
  EXPECT_EQ(counted_addresses({"fd::1", "fd::2", "10.0.0.1", "10.0.0.2"}, {"fd::1", "10.0.0.1", "10.0.0.2"}),
            (Addresses{"10.0.0.1", "10.0.0.2"}))
      << "of which more take connections";
}

TEST(DoctorVoters, StandInTheConfiguration) {
  EXPECT_EQ(voters_in("server.1=a:2888:3888:participant;0.0.0.0:2181\nserver.2=b:2888:3888:participant\n"
                      "server.3=c:2888:3888:observer\nversion=0"),
            2U);
  EXPECT_EQ(voters_in(""), std::nullopt);
  EXPECT_EQ(voters_in("version=0\n"), std::nullopt);
}

// "status: message" of the one finding, with its exit code when it is a failure.
std::string judgement(const ServerTally& tally, const EnsembleProof& proof) {
  DoctorReport report;
  judge_servers(tally, proof, report);
  if (report.findings().size() != 1) return "not one finding";
  const Finding& finding = report.findings().front();
  if (finding.health == Health::fail) return "fail " + std::to_string(finding.exit_code) + ": " + finding.message;
  return (finding.health == Health::ok ? "ok: " : "warn: ") + finding.message;
}

ServerTally servers(std::size_t listed, std::size_t serving) {
  ServerTally tally;
  tally.listed = listed;
  tally.reachable = serving;
  tally.serving = serving;
  tally.asked = serving;
  tally.leaders = serving > 0 ? 1 : 0;
  return tally;
}

constexpr EnsembleProof of_three{true, 3};
constexpr EnsembleProof unknown{};

TEST(DoctorJudgement, OfServersThatAreThere) {
  EXPECT_EQ(judgement(servers(3, 3), of_three),
            "ok: 3 of 3 servers serve, and each sees what is written through the first");
  EXPECT_EQ(judgement(servers(1, 1), of_three), "ok: 1 of 1 servers serve");
  EXPECT_EQ(judgement(servers(3, 3), unknown), "ok: 3 of 3 servers serve");
}

TEST(DoctorJudgement, OfServersThatAreMissing) {
  EXPECT_EQ(judgement(servers(3, 0), unknown), "fail 69: no server can be reached");
  EXPECT_EQ(judgement(servers(3, 2), of_three), "warn: 2 of 3 servers serve; one more loss stops all locks");
  EXPECT_EQ(judgement(servers(3, 2), unknown), "warn: 2 of 3 servers serve; one more loss stops all locks");
  EXPECT_EQ(judgement(servers(5, 4), unknown),
            "warn: 4 of 5 servers serve; 1 more server may fail before locking stops");
  EXPECT_EQ(judgement(servers(3, 1), unknown), "warn: 1 of 3 servers serve: no majority");
  EXPECT_EQ(judgement(servers(4, 2), unknown), "warn: 2 of 4 servers serve: no majority");
  EXPECT_EQ(judgement(servers(2, 1), of_three), "warn: 1 of 2 servers serve; the ensemble has 3 that vote");
  ServerTally frozen = servers(3, 0);
  frozen.reachable = 3;
  EXPECT_EQ(judgement(frozen, unknown), "warn: 0 of 3 servers serve: no majority");
}

TEST(DoctorJudgement, OfObservers) {
  ServerTally tally = servers(4, 3);
  tally.observers = 1;  // that is there, and one of the others is not
  EXPECT_EQ(judgement(tally, of_three), "warn: 3 of 4 servers serve; one more loss stops all locks");
  EXPECT_EQ(judgement(tally, unknown), "warn: 3 of 4 servers serve; one more loss stops all locks");
  EXPECT_EQ(judgement(servers(4, 3), of_three),
            "warn: 3 of 4 servers serve; 1 more server may fail before locking stops");
}

TEST(DoctorJudgement, OfLeaders) {
  ServerTally tally = servers(3, 3);
  for (const std::size_t leaders : {0U, 2U}) {
    tally.leaders = leaders;
    EXPECT_EQ(judgement(tally, unknown),
              "warn: 3 of 3 servers serve, " + std::to_string(leaders) + " say that they lead");
    EXPECT_EQ(judgement(tally, of_three).substr(0, 3), "ok:") << "it has been seen that they are one";
  }
  tally.asked = 2;
  EXPECT_EQ(judgement(tally, unknown).substr(0, 3), "ok:") << "the third may lead";
}

TEST(DoctorJudgement, OfStandaloneServers) {
  ServerTally tally = servers(1, 1);
  tally.standalone = 1;
  const EnsembleProof seen{true, std::nullopt};
  EXPECT_EQ(judgement(tally, seen), "warn: one standalone server: no locks while it is down");
  const std::string failure = "fail 78: a server of the list is standalone: these servers do not share their locks";
  tally.listed = 2;
  EXPECT_EQ(judgement(tally, seen), failure) << "the other one is not there";
  tally.serving = tally.asked = tally.reachable = 2;
  EXPECT_EQ(judgement(tally, seen), failure) << "and an ensemble";
  tally.standalone = 2;
  EXPECT_EQ(judgement(tally, unknown), failure);
  EXPECT_EQ(judgement(tally, seen), "warn: one standalone server: no locks while it is down") << "at two addresses";
}

#ifdef FORELOCK_TLS
TEST(DoctorWalls, NothingIsSaidOfAServerThatIsSilent) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(bind(listener, reinterpret_cast<const sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(listener, 16), 0);
  ASSERT_EQ(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
  const test::TemporaryDirectory folder;
  const test::Authority authority(folder.path(), "good");
  Settings settings;
  settings.set("zookeeper.tls.ca.file", authority.certificate().native());
  const auto tls = client::make_tls(settings);
  DoctorReport report;
  DoctorWall(settings).examine({"127.0.0.1", ntohs(address.sin_port)}, "zk1", {tls.get(), "zk1"}, report);
  for (const Finding& finding : report.findings()) ADD_FAILURE() << finding.message;
  close(listener);
}
#endif

}  // namespace
}  // namespace forelock::cli
