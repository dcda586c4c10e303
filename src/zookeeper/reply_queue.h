// The requests that wait for their replies, in the order of submission.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "coordination/reply.h"
#include "coordination/session.h"

namespace forelock::zookeeper {

// Hands replies out in the order of the requests, whatever the order in which they become known: a request that fails
// before it is sent is known at once, while earlier ones still wait for the server. Not thread-safe.
class ReplyQueue {
 public:
  // Rises by one with each request.
  using Serial = std::uint64_t;

  Serial push(coordination::RequestTag tag);

  // The usual case: `serial` is the oldest request. Takes it out and tells its tag; false when it is not the oldest.
  bool take_oldest(Serial serial, coordination::RequestTag& tag);

  // Stores a reply until its turn comes. Ignored when the request has its reply already. Older requests without one
  // never get one, because the server answers in order: they become connection_loss, except when held.
  void store(Serial serial, coordination::Reply reply);

  // As store() for a request that fails before it is sent, which tells nothing about older ones.
  void store_local(Serial serial, coordination::ReplyCode code);

  // The request was sent a second time: younger replies wait for it. False when it has its reply already.
  bool hold(Serial serial);

  // Every request without a reply gets this one.
  void fail_all(coordination::ReplyCode code);

  // Whether the oldest request has its reply.
  bool ready() const { return size_ != 0 && at(first_).reply != nullptr; }

  // Takes the oldest request out if it has its reply and is older than `end`.
  bool take_ready(Serial end, coordination::RequestTag& tag, coordination::Reply& reply);

  // The serial of the oldest request, if there is one.
  Serial oldest() const { return first_; }
  // The serial of the next request.
  Serial end() const { return first_ + size_; }
  bool empty() const { return size_ == 0; }

 private:
  struct Entry {
    coordination::RequestTag tag = 0;
    std::unique_ptr<coordination::Reply> reply;  // known, but not yet its turn
    bool held = false;
  };

  Entry& at(Serial serial) { return ring_[serial & (ring_.size() - 1)]; }
  const Entry& at(Serial serial) const { return ring_[serial & (ring_.size() - 1)]; }
  bool waiting(Serial serial) const { return serial >= first_ && serial < end(); }
  void grow();
  void drop_oldest();

  std::vector<Entry> ring_ = std::vector<Entry>(64);  // a power of two
  Serial first_ = 1;
  std::size_t size_ = 0;
};

}  // namespace forelock::zookeeper
