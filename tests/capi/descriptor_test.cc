// The descriptor of a client's events, in event loops; needs no server.
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capi/client_object.h"
#include "capi/handles.h"
#include "forelock/c.h"
#include "support/test.h"

namespace forelock::capi {
namespace {

constexpr int patience_ms = 15'000;

bool readable(int descriptor) {
  pollfd wanted{.fd = descriptor, .events = POLLIN, .revents = 0};
  return poll(&wanted, 1, 0) == 1 && wanted.revents == POLLIN;
}

class Epoll {
 public:
  Epoll(int descriptor, std::uint32_t events) {
    epoll_event wanted{};
    wanted.events = events;
    EXPECT_EQ(epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &wanted), 0);
  }
  ~Epoll() { close(epoll_); }
  Epoll(const Epoll&) = delete;
  Epoll& operator=(const Epoll&) = delete;

  bool wakes(int timeout_ms) {
    epoll_event event{};
    return epoll_wait(epoll_, &event, 1, timeout_ms) == 1;
  }

 private:
  const int epoll_ = epoll_create1(EPOLL_CLOEXEC);
};

TEST(Descriptor, IsReadableAsLongAsThereIsSomethingToFetch) {
  EventQueue queue;
  queue.notify({.kind = FL_EVENT_LOG});
  const int descriptor = queue.descriptor();
  EXPECT_TRUE(readable(descriptor)) << "what came before it was asked for counts";
  EXPECT_EQ(queue.descriptor(), descriptor);
  EXPECT_EQ(queue.poll(0, 8)->size(), 1u);
  EXPECT_FALSE(readable(descriptor));
  EXPECT_EQ(queue.poll(0, 8)->size(), 0u);
  EXPECT_FALSE(readable(descriptor));
  for (int i = 0; i < 3; ++i) queue.notify({.kind = FL_EVENT_LOG});
  EXPECT_TRUE(readable(descriptor));
  EXPECT_EQ(queue.poll(0, 2)->size(), 2u);
  EXPECT_TRUE(readable(descriptor)) << "one is left";
  EXPECT_EQ(queue.poll(0, 2)->size(), 1u);
  EXPECT_FALSE(readable(descriptor));
}

TEST(Descriptor, TellsTheEndAndGoesOnDoingSo) {
  EventQueue fetched;
  EventQueue::Reservation room(fetched);
  room.keep();
  const int descriptor = fetched.descriptor();
  fetched.end();
  EXPECT_FALSE(readable(descriptor)) << "a completion is awaited";
  fetched.complete({.kind = FL_EVENT_OPERATION});
  EXPECT_EQ(fetched.poll(0, 1)->size(), 1u);
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(readable(descriptor));
    EXPECT_FALSE(fetched.poll(0, 1));
  }

  EventQueue forgone;
  {
    const EventQueue::Reservation refused(forgone);
    forgone.end();
    EXPECT_FALSE(readable(forgone.descriptor()));
  }
  EXPECT_TRUE(readable(forgone.descriptor()));

  EventQueue cleared;
  EXPECT_FALSE(readable(cleared.descriptor()));
  cleared.clear();
  EXPECT_TRUE(readable(cleared.descriptor()));
}

TEST(Descriptor, TellsThatEventsWereDropped) {
  EventQueue queue;
  const int descriptor = queue.descriptor();
  constexpr std::size_t kept = EventQueue::max_notifications;
  for (std::size_t i = 0; i < kept + 1; ++i) queue.notify({.kind = FL_EVENT_QUEUED});
  EXPECT_EQ(queue.poll(0, kept)->size(), kept);
  EXPECT_TRUE(readable(descriptor));
  EXPECT_EQ(queue.poll(0, 1)->front().kind, FL_EVENT_DROPPED);
  EXPECT_FALSE(readable(descriptor));
}

TEST(Descriptor, WhoIsToldOfChangesFetchesUntilNothingIsLeft) {
  EventQueue queue;
  Epoll changes(queue.descriptor(), EPOLLIN | EPOLLET);
  for (int round = 0; round < 3; ++round) {
    EXPECT_FALSE(changes.wakes(0));
    queue.notify({.kind = FL_EVENT_LOG});
    queue.notify({.kind = FL_EVENT_LOG});
    EXPECT_TRUE(changes.wakes(patience_ms));
    EXPECT_FALSE(changes.wakes(0)) << "told once";
    while (!queue.poll(0, 1)->empty()) continue;
  }
}

TEST(Descriptor, SeveralPollersMissNothing) {
  constexpr int wanted = 2'000;
  EventQueue queue;
  std::atomic<int> fetched{0};
  std::vector<std::thread> pollers;
  for (int i = 0; i < 4; ++i) {
    pollers.emplace_back([&] {
      Epoll loop(queue.descriptor(), EPOLLIN);
      for (;;) {
        ASSERT_TRUE(loop.wakes(patience_ms)) << fetched;
        const auto some = queue.poll(0, 3);
        if (!some) return;
        fetched += static_cast<int>(some->size());
      }
    });
  }
  for (int i = 0; i < wanted; ++i) queue.notify({.kind = FL_EVENT_LOG});
  queue.end();
  for (std::thread& poller : pollers) poller.join();
  EXPECT_EQ(fetched, wanted);
}

class ClientDescriptor : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(fl_client_open(0, 0, &client_), FL_OK);
    ASSERT_EQ(fl_client_get_fd(client_, &descriptor_), FL_OK) << fl_last_message();
  }
  void happen() const { find<ClientObject>(client_)->events().notify({.kind = FL_EVENT_LOG}); }

  fl_client client_ = 0;
  std::int32_t descriptor_ = -1;
  fl_event event_{};
};

TEST_F(ClientDescriptor, LivesAsLongAsTheClientAndItsLocks) {
  std::int32_t again = -1;
  EXPECT_EQ(fl_client_get_fd(client_, nullptr), FL_INVALID_ARGUMENT);
  fl_lock lock = 0;
  ASSERT_EQ(fl_lock_new(client_, "i", "m", FL_FOREGROUND, nullptr, &lock), FL_OK);
  EXPECT_FALSE(readable(descriptor_));
  EXPECT_EQ(fl_client_close(client_), FL_OK);
  EXPECT_EQ(fl_client_get_fd(client_, &again), FL_OK) << "that of a closed client tells the end";
  EXPECT_EQ(again, descriptor_);
  EXPECT_TRUE(readable(descriptor_));
  EXPECT_EQ(fl_poll(client_, 0, &event_, 1), -FL_CLOSED);
  EXPECT_EQ(fl_client_free(client_), FL_OK);
  EXPECT_EQ(fl_client_get_fd(client_, &again), FL_INVALID_HANDLE);
  EXPECT_TRUE(readable(descriptor_));
  EXPECT_EQ(fl_lock_free(lock), FL_OK);
  EXPECT_EQ(fcntl(descriptor_, F_GETFD), -1) << "closed";
}

// The child has the same descriptor, not a copy.
TEST_F(ClientDescriptor, IsNotDisturbedByAForkedChild) {
  happen();
  const pid_t child = fork();
  if (child == 0) {
    alarm(10);
    std::int32_t again = -1;
    if (fl_poll(client_, 0, &event_, 1) != -FL_FORKED) _exit(1);
    if (fl_client_get_fd(client_, &again) != FL_FORKED) _exit(2);
    if (fl_client_close(client_) != FL_OK || fl_client_free(client_) != FL_OK) _exit(3);
    _exit(0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(readable(descriptor_));
  EXPECT_EQ(fl_poll(client_, 0, &event_, 1), 1);
  EXPECT_FALSE(readable(descriptor_));

  const pid_t second = fork();
  if (second == 0) _exit(fl_client_free(client_) == FL_OK ? 0 : 1);
  ASSERT_EQ(waitpid(second, &status, 0), second);
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(readable(descriptor_)) << "the end is the child's";
  happen();
  EXPECT_TRUE(readable(descriptor_));
  EXPECT_EQ(fl_client_free(client_), FL_OK);
}

TEST(ClientDescriptors, AProcessWithoutRoomForAnotherIsToldSo) {
  fl_client client = 0;
  ASSERT_EQ(fl_client_open(0, 0, &client), FL_OK);
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = limit.rlim_max};
  std::int32_t descriptor = -1;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const std::int32_t code = fl_client_get_fd(client, &descriptor);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_EQ(code, FL_OVERLOADED);
  EXPECT_NE(std::strstr(fl_last_hint(), "open files"), nullptr) << fl_last_hint();
  EXPECT_EQ(fl_client_get_fd(client, &descriptor), FL_OK) << "it can be had later";
  EXPECT_EQ(fl_client_free(client), FL_OK);
}

}  // namespace
}  // namespace forelock::capi
