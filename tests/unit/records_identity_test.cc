#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "forelock/error.h"
#include "records/guid.h"
#include "records/instance.h"
#include "records/stack.h"
#include "support/test.h"

namespace forelock::records {
namespace {

TEST(Guid, IsARandomUuidOfVersion4) {
  EXPECT_THAT(make_guid(), MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"));
  std::set<std::string> guids;
  for (int i = 0; i < 10'000; ++i) guids.insert(make_guid());
  EXPECT_EQ(guids.size(), 10'000u);
}

TEST(Guid, IsAnotherInAForkedChild) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    const std::string guid = make_guid();
    _exit(write(ends[1], guid.data(), guid.size()) == static_cast<ssize_t>(guid.size()) ? 0 : 1);
  }
  char of_child[36];
  ASSERT_EQ(::read(ends[0], of_child, sizeof of_child), 36);
  EXPECT_NE(make_guid(), std::string(of_child, sizeof of_child));
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
  close(ends[0]);
  close(ends[1]);
}

TEST(Instance, NamesHostProcessAndThread) {
  EXPECT_THAT(process_identity(), MatchesRegex("[^/]+/" + std::to_string(getpid())));
  EXPECT_EQ(thread_identity(), "main");
  EXPECT_EQ(instance_identity("h/1", "a/b"), "h/1/a_b");
}

TEST(Instance, CallsAThreadByItsNameOrItsNumber) {
  std::thread([] { EXPECT_EQ(thread_identity(), std::to_string(gettid())); }).join();
  std::thread([] {
    pthread_setname_np(pthread_self(), "indexer");
    EXPECT_EQ(thread_identity(), "indexer");
  }).join();
}

[[gnu::noinline]] CapturedStack capture_here() {
  const CapturedStack stack = capture_stack();
  asm volatile("");  // no tail call: this frame must exist
  return stack;
}

[[gnu::noinline]] CapturedStack deeply(int depth) {
  const CapturedStack stack = depth == 0 ? capture_here() : deeply(depth - 1);
  asm volatile("");
  return stack;
}

TEST(Stack, HasTheCallersInnermostFirstAndALimit) {
  const CapturedStack stack = capture_here();
  ASSERT_GT(stack.depth, 2u);
  const CapturedStack deep = deeply(100);
  EXPECT_EQ(deep.depth, max_stack_depth);
  // The recursion's frames return to one place; the first is the caller of capture_here.
  EXPECT_EQ(deep.frames[2], deep.frames[3]);
}

TEST(Stack, IsNamedLazily) {
  const CapturedStack stack = deeply(3);
  const std::vector<std::string> names = symbolise(stack);
  ASSERT_EQ(names.size(), stack.depth);
  EXPECT_EQ(symbolise(stack), names);
  for (const std::string& name : names) EXPECT_THAT(name, HasSubstr("+0x"));
}

TEST(Stack, OfAThreadEndsByItself) {
  std::thread([] { EXPECT_GT(capture_here().depth, 0u); }).join();
}

TEST(ErrorCode, HasAStableNameAndARetryableClass) {
  EXPECT_EQ(name_of(ErrorCode::lock_timeout), "lock_timeout");
  EXPECT_EQ(name_of(ErrorCode::internal), "internal");
  std::set<std::string_view> names;
  const auto last = static_cast<int>(ErrorCode::record_too_new);
  for (int i = 1; i <= last; ++i) names.insert(name_of(static_cast<ErrorCode>(i)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(last));
  for (const ErrorCode code :
       {ErrorCode::lock_timeout, ErrorCode::lock_unavailable, ErrorCode::session_expired, ErrorCode::connection_loss,
        ErrorCode::lock_unhealthy, ErrorCode::overloaded, ErrorCode::outbox_full, ErrorCode::kafka_unavailable}) {
    EXPECT_TRUE(is_retryable(code)) << name_of(code);
  }
  for (const ErrorCode code : {ErrorCode::cancelled, ErrorCode::no_node, ErrorCode::not_authorized, ErrorCode::closed,
                               ErrorCode::invalid_argument, ErrorCode::configuration, ErrorCode::server_error,
                               ErrorCode::handler_failed, ErrorCode::outbox_unavailable, ErrorCode::kafka_rejected,
                               ErrorCode::record_invalid, ErrorCode::record_too_new}) {
    EXPECT_FALSE(is_retryable(code)) << name_of(code);
  }
}

TEST(Error, CarriesWhatProgramsAndPeopleNeed) {
  try {
    throw InstanceLockException(ErrorCode::lock_timeout, "P1", "not obtained", "look at it");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::lock_timeout);
    EXPECT_EQ(error.monitor(), "P1");
    EXPECT_STREQ(error.what(), "not obtained");
    EXPECT_EQ(error.hint(), "look at it");
    EXPECT_TRUE(error.retryable());
  }
}

}  // namespace
}  // namespace forelock::records
