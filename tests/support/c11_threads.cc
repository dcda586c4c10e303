// For programs under GCC's ThreadSanitizer: threads that the C library starts by itself, as librdkafka has it do, are
// unknown to the sanitizer and crash in it. These take the place of the C library's functions, and start threads that
// the sanitizer sees.
#include <pthread.h>
#include <threads.h>

#include "support/standard.h"

namespace {

struct Start {
  thrd_start_t run;
  void* argument;
};

void* run_and_free(void* pointer) {
  const std::unique_ptr<Start> start(static_cast<Start*>(pointer));
  return reinterpret_cast<void*>(static_cast<std::intptr_t>(start->run(start->argument)));
}

}  // namespace

extern "C" {

int thrd_create(thrd_t* thread, thrd_start_t run, void* argument) {
  auto start = std::make_unique<Start>(Start{run, argument});
  if (pthread_create(thread, nullptr, run_and_free, start.get()) != 0) return thrd_error;
  static_cast<void>(start.release());  // the thread's now
  return thrd_success;
}

int thrd_join(thrd_t thread, int* result) {
  void* value = nullptr;
  if (pthread_join(thread, &value) != 0) return thrd_error;
  if (result != nullptr) *result = static_cast<int>(reinterpret_cast<std::intptr_t>(value));
  return thrd_success;
}

int thrd_detach(thrd_t thread) {
  return pthread_detach(thread) == 0 ? thrd_success : thrd_error;
}

}  // extern "C"
