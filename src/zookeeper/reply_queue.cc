#include "zookeeper/reply_queue.h"

#include <utility>

namespace forelock::zookeeper {

using coordination::Reply;
using coordination::ReplyCode;
using coordination::RequestTag;

namespace {

std::unique_ptr<Reply> failed_reply(ReplyCode code) {
  auto reply = std::make_unique<Reply>();
  reply->code = code;
  return reply;
}

}  // namespace

ReplyQueue::Serial ReplyQueue::push(RequestTag tag) {
  if (size_ == ring_.size()) grow();
  const Serial serial = end();
  at(serial).tag = tag;
  ++size_;
  return serial;
}

bool ReplyQueue::take_oldest(Serial serial, RequestTag& tag) {
  if (size_ == 0 || serial != first_ || at(first_).reply) return false;
  tag = at(first_).tag;
  drop_oldest();
  return true;
}

void ReplyQueue::store(Serial serial, Reply reply) {
  if (!waiting(serial) || at(serial).reply) return;
  at(serial).reply = std::make_unique<Reply>(std::move(reply));
  for (Serial older = first_; older != serial; ++older) {
    if (at(older).held) break;
    if (!at(older).reply) at(older).reply = failed_reply(ReplyCode::connection_loss);
  }
}

void ReplyQueue::store_local(Serial serial, ReplyCode code) {
  if (waiting(serial) && !at(serial).reply) at(serial).reply = failed_reply(code);
}

bool ReplyQueue::hold(Serial serial) {
  if (!waiting(serial) || at(serial).reply) return false;
  at(serial).held = true;
  return true;
}

void ReplyQueue::fail_all(ReplyCode code) {
  for (Serial serial = first_; serial != end(); ++serial) {
    if (!at(serial).reply) at(serial).reply = failed_reply(code);
  }
}

bool ReplyQueue::take_ready(Serial end, RequestTag& tag, Reply& reply) {
  if (!ready() || first_ >= end) return false;
  tag = at(first_).tag;
  reply = std::move(*at(first_).reply);
  drop_oldest();
  return true;
}

void ReplyQueue::drop_oldest() {
  at(first_) = Entry{};
  ++first_;
  --size_;
}

void ReplyQueue::grow() {
  std::vector<Entry> larger(ring_.size() * 2);
  for (Serial serial = first_; serial != end(); ++serial) larger[serial & (larger.size() - 1)] = std::move(at(serial));
  ring_ = std::move(larger);
}

}  // namespace forelock::zookeeper
