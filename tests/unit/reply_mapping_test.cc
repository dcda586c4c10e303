// What each answer that a ZooKeeper server of version 3.9 can give means.
#include "zookeeper/reply_mapping.h"
#include "client/reply_error.h"
#include "forelock/error.h"
#include "support/test.h"

namespace forelock::zookeeper {
namespace {

using coordination::Effect;
using coordination::ReplyCode;

struct Answer {
  int number;
  const char* name;  // as the server's source calls it
  ReplyCode code;
  Effect effect;
  ErrorCode told;  // to the caller of a request beside the protocol
};

constexpr Answer answers[] = {
    {0, "OK", ReplyCode::ok, Effect::applied, ErrorCode::internal},
    {-1, "SYSTEMERROR", ReplyCode::server_error, Effect::unknown, ErrorCode::server_error},
    {-2, "RUNTIMEINCONSISTENCY", ReplyCode::server_error, Effect::unknown, ErrorCode::server_error},
    {-3, "DATAINCONSISTENCY", ReplyCode::server_error, Effect::unknown, ErrorCode::server_error},
    {-4, "CONNECTIONLOSS", ReplyCode::connection_loss, Effect::unknown, ErrorCode::connection_loss},
    {-5, "MARSHALLINGERROR", ReplyCode::server_error, Effect::unknown, ErrorCode::server_error},
    {-6, "UNIMPLEMENTED", ReplyCode::unimplemented, Effect::not_applied, ErrorCode::server_error},
    {-7, "OPERATIONTIMEOUT", ReplyCode::connection_loss, Effect::unknown, ErrorCode::connection_loss},
    {-8, "BADARGUMENTS", ReplyCode::invalid_argument, Effect::not_applied, ErrorCode::invalid_argument},
    {-12, "UNKNOWNSESSION", ReplyCode::server_error, Effect::unknown, ErrorCode::server_error},
    {-13, "NEWCONFIGNOQUORUM", ReplyCode::server_error, Effect::unknown, ErrorCode::server_error},
    {-14, "RECONFIGINPROGRESS", ReplyCode::server_error, Effect::unknown, ErrorCode::server_error},
    {-100, "APIERROR", ReplyCode::server_error, Effect::unknown, ErrorCode::server_error},
    {-101, "NONODE", ReplyCode::no_node, Effect::not_applied, ErrorCode::no_node},
    {-102, "NOAUTH", ReplyCode::no_auth, Effect::not_applied, ErrorCode::not_authorized},
    {-103, "BADVERSION", ReplyCode::bad_version, Effect::not_applied, ErrorCode::write_conflict},
    {-108, "NOCHILDRENFOREPHEMERALS", ReplyCode::no_children_for_ephemerals, Effect::not_applied,
     ErrorCode::write_conflict},
    {-110, "NODEEXISTS", ReplyCode::node_exists, Effect::not_applied, ErrorCode::write_conflict},
    {-111, "NOTEMPTY", ReplyCode::not_empty, Effect::not_applied, ErrorCode::write_conflict},
    {-112, "SESSIONEXPIRED", ReplyCode::session_expired, Effect::unknown, ErrorCode::session_expired},
    {-113, "INVALIDCALLBACK", ReplyCode::server_error, Effect::unknown, ErrorCode::server_error},
    {-114, "INVALIDACL", ReplyCode::invalid_acl, Effect::not_applied, ErrorCode::not_authorized},
    {-115, "AUTHFAILED", ReplyCode::auth_failed, Effect::not_applied, ErrorCode::not_authorized},
    {-118, "SESSIONMOVED", ReplyCode::connection_loss, Effect::unknown, ErrorCode::connection_loss},
    {-119, "NOTREADONLY", ReplyCode::server_error, Effect::unknown, ErrorCode::server_error},
    {-120, "EPHEMERALONLOCALSESSION", ReplyCode::no_ephemerals, Effect::not_applied, ErrorCode::server_error},
    {-121, "NOWATCHER", ReplyCode::server_error, Effect::unknown, ErrorCode::server_error},
    {-122, "REQUESTTIMEOUT", ReplyCode::server_error, Effect::unknown, ErrorCode::server_error},
    {-123, "RECONFIGDISABLED", ReplyCode::server_error, Effect::unknown, ErrorCode::server_error},
    {-124, "SESSIONCLOSEDREQUIRESASLAUTH", ReplyCode::auth_failed, Effect::not_applied, ErrorCode::not_authorized},
    {-125, "QUOTAEXCEEDED", ReplyCode::quota_exceeded, Effect::not_applied, ErrorCode::quota_exceeded},
    {-127, "THROTTLEDOP", ReplyCode::throttled, Effect::unknown, ErrorCode::overloaded},
};

ErrorCode told(ReplyCode code) {
  try {
    client::throw_reply_error(code, "m", "it failed");
  } catch (const Error& error) {
    EXPECT_FALSE(std::string_view(error.what()).empty());
    return error.code();
  }
}

TEST(ReplyMappingTest, EveryAnswerIsAppliedNotAppliedOrUnknown) {
  std::set<int> numbers;
  for (const Answer& answer : answers) {
    EXPECT_TRUE(numbers.insert(answer.number).second) << answer.name;
    EXPECT_EQ(reply_code(answer.number), answer.code) << answer.name;
    EXPECT_EQ(coordination::effect_of(answer.code), answer.effect) << answer.name;
    EXPECT_EQ(told(answer.code), answer.told) << answer.name;
  }
}

// Those of later versions: nothing is believed of them.
TEST(ReplyMappingTest, AnAnswerThatIsNotKnownIsUnknown) {
  for (int number = 5; number > -2000; --number) {
    const bool known = std::any_of(std::begin(answers), std::end(answers),
                                   [number](const Answer& answer) { return answer.number == number; });
    const ReplyCode code = reply_code(number);
    if (known || code == ReplyCode::connection_loss) continue;  // the client's own: closing, an invalid state
    EXPECT_EQ(code, ReplyCode::server_error) << number;
    EXPECT_FALSE(coordination::answered_by_server(code)) << number;
  }
}

// A follower throttles by itself: that proves no leader, still less a quorum.
TEST(ReplyMappingTest, WhatAServerAnswersByItselfProvesNoQuorum) {
  for (const ReplyCode code : {ReplyCode::throttled, ReplyCode::no_ephemerals, ReplyCode::no_auth}) {
    EXPECT_TRUE(coordination::answered_by_server(code));
    EXPECT_TRUE(coordination::decided_locally(code));
  }
}

}  // namespace
}  // namespace forelock::zookeeper
