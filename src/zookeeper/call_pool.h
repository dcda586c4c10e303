// The memory that the C client uses while a request is on its way.
#pragma once

#include <zookeeper/zookeeper.h>

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "coordination/request.h"
#include "zookeeper/reply_queue.h"

namespace forelock::zookeeper {

class SessionCore;

// The context of one asynchronous call. The C client may write to `results` and what they point to at any time until it
// has called back, even for a request that has long been answered with connection_loss, so a call goes back to the pool
// only from its completion.
struct Call {
  SessionCore* owner = nullptr;
  ReplyQueue::Serial serial = 0;
  // A container creation, kept for a second attempt on servers that know no containers.
  std::unique_ptr<coordination::Create> container;

  // Transactions only.
  std::vector<zoo_op_t> operations;
  std::vector<zoo_op_result_t> results;
  std::vector<::Stat> stats;
  std::vector<char> path_buffers;
};

// Keeps the calls, used ones for reuse; calls that the C client never completes are freed with the pool, which has to
// outlive the client's handle. Not thread-safe.
class CallPool {
 public:
  Call* acquire(SessionCore* owner, ReplyQueue::Serial serial);
  void release(Call* call);

 private:
  std::deque<Call> all_;
  std::vector<Call*> unused_;
};

}  // namespace forelock::zookeeper
