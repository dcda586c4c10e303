#include "outbox/own_descriptor.h"

#include <pthread.h>
#include <sys/file.h>
#include <unistd.h>

#include <mutex>
#include <unordered_set>

namespace forelock::outbox {

// All of them.
class OwnDescriptors {
 public:
  static OwnDescriptors& instance();

  void add(OwnDescriptor* one) {
    const std::lock_guard hold(mutex_);
    all_.insert(one);
  }
  void remove(OwnDescriptor* one) {
    const std::lock_guard hold(mutex_);
    all_.erase(one);
  }

 private:
  OwnDescriptors() {
    pthread_atfork([] { instance().mutex_.lock(); }, [] { instance().mutex_.unlock(); },
                   [] { instance().close_in_child(); });
  }

  void close_in_child() {
    for (OwnDescriptor* const one : all_) {
      ::close(one->file_);
      one->file_ = -1;
    }
    mutex_.unlock();
  }

  std::mutex mutex_;
  std::unordered_set<OwnDescriptor*> all_;
};

// Not inline: each copy of this library has its own.
OwnDescriptors& OwnDescriptors::instance() {
  static auto& all = *new OwnDescriptors;  // never destroyed: a fork may come while the process ends
  return all;
}

OwnDescriptor::OwnDescriptor(int file) : file_(file), process_(::getpid()) {
  OwnDescriptors::instance().add(this);
}

OwnDescriptor::~OwnDescriptor() {
  OwnDescriptors::instance().remove(this);
  unlock();
  if (file_ >= 0) ::close(file_);
}

void OwnDescriptor::unlock() const noexcept {
  if (file_ >= 0 && ::getpid() == process_) ::flock(file_, LOCK_UN);
}

}  // namespace forelock::outbox
