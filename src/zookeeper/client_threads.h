// The two threads of a C client, created before the client.
#pragma once

#include <pthread.h>

#include <array>
#include <memory>

namespace forelock::zookeeper {

// The C client asserts that its threads can be made: where a limit (RLIMIT_NPROC, pids.max, memory) does not permit
// them, zookeeper_init2() ends the process. So they are made here, where a failure is an exception, and wait; while
// this object lives, its C client's calls of pthread_create() on this thread get them instead of new ones.
//
// For this the C client's import of that function is replaced, once and for all, in whichever loaded object the client
// is. Where no such import is found (another format of relocations than those of 64-bit Linux), all is as without this
// object.
class ClientThreads {
 public:
  // Throws base::NoThread.
  ClientThreads();
  // Those that were not taken end.
  ~ClientThreads();
  ClientThreads(const ClientThreads&) = delete;
  ClientThreads& operator=(const ClientThreads&) = delete;

 private:
  struct Waiting;
  using Routine = void* (*)(void*);

  static int create(pthread_t* thread, const pthread_attr_t* attributes, Routine routine, void* argument);
  static void* wait(void* waiting);
  void begin_threads();
  void end_threads();
  bool take(pthread_t* thread, Routine routine, void* argument);

  static thread_local ClientThreads* current_;
  std::array<std::shared_ptr<Waiting>, 2> waiting_;
};

}  // namespace forelock::zookeeper
