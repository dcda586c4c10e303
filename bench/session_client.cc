#include "bench/session_client.h"

#include <chrono>
#include <stdexcept>
#include <utility>

namespace forelock::bench {

using coordination::Create;
using coordination::CreateMode;
using coordination::Delete;
using coordination::Reply;
using coordination::SetData;
using coordination::Transaction;

namespace {

zookeeper::SessionOptions options_for(const std::string& servers) {
  zookeeper::SessionOptions options;
  options.servers = servers;
  options.session_timeout = std::chrono::seconds(10);
  return options;
}

}  // namespace

SessionClient::SessionClient(const std::string& servers, workload::RecordSizes sizes)
    : own_record_(sizes.own, 'x'), holder_record_(sizes.holder, 'y'), session_(options_for(servers), *this) {
  session_.start();
  std::unique_lock guard(mutex_);
  if (!changed_.wait_for(guard, std::chrono::seconds(30), [this] { return connected_; })) {
    throw std::runtime_error("the session does not connect to " + servers);
  }
}

void SessionClient::on_session(const coordination::SessionEvent& event) {
  const std::lock_guard guard(mutex_);
  connected_ = event.kind == coordination::SessionEvent::Kind::connected;
  changed_.notify_all();
}

void SessionClient::on_reply(coordination::RequestTag, Reply reply) {
  const std::lock_guard guard(mutex_);
  reply_ = std::move(reply);
  done_ = true;
  changed_.notify_one();
}

Reply SessionClient::wait_for(coordination::Request request) {
  session_.submit(next_tag_++, std::move(request));
  std::unique_lock guard(mutex_);
  changed_.wait(guard, [this] { return done_; });
  done_ = false;
  if (!reply_.ok()) throw std::runtime_error("a transaction failed");
  return std::move(reply_);
}

void SessionClient::claim(const std::string& monitor) {
  lock_path_ = monitor + "/privateLock";
  Transaction claim{{Create{monitor + "/A-", own_record_, CreateMode::ephemeral_sequential},
                     Create{lock_path_, "", CreateMode::ephemeral}, SetData{lock_path_, holder_record_}}};
  Reply reply = wait_for(std::move(claim));
  own_path_ = std::move(reply.operations[0].path);
}

void SessionClient::release() {
  wait_for(Transaction{{Delete{own_path_}, Delete{lock_path_}}});
}

}  // namespace forelock::bench
