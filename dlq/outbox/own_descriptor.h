// A file descriptor that stays with the process which opened it.
#pragma once

#include <sys/types.h>

namespace forelock::outbox {

// For descriptors with a flock(), which belongs to the open file: a child of fork() that kept a copy would keep the
// lock when the parent dies. In the child it is closed at once (pthread_atfork), and get() is -1 from then on; the
// parent's lock is not touched. A child that is made past the C library (clone(), _Fork()) keeps its copy until exec.
class OwnDescriptor {
 public:
  explicit OwnDescriptor(int file);
  // Closes it; a flock() is free then, also where a child has kept a copy.
  ~OwnDescriptor();
  OwnDescriptor(const OwnDescriptor&) = delete;
  OwnDescriptor& operator=(const OwnDescriptor&) = delete;

  int get() const { return file_; }
  // Frees a flock(), also where a child has kept a copy. Nothing in a child.
  void unlock() const noexcept;

 private:
  friend class OwnDescriptors;
  int file_;
  const pid_t process_;
};

}  // namespace forelock::outbox
