// The same two transactions through Forelock's own session, without the lock engine: tells the room's share.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>

#include "workload/raw_client.h"
#include "zookeeper/zookeeper_session.h"

namespace forelock::bench {

// As RawClient. Not thread-safe.
class SessionClient final : private coordination::SessionListener {
 public:
  explicit SessionClient(const std::string& servers, workload::RecordSizes sizes = {});

  void claim(const std::string& monitor);
  void release();

 private:
  void on_reply(coordination::RequestTag tag, coordination::Reply reply) override;
  void on_watch(const coordination::WatchEvent&) override {}
  void on_session(const coordination::SessionEvent& event) override;
  coordination::Reply wait_for(coordination::Request request);

  const std::string own_record_;
  const std::string holder_record_;
  std::string lock_path_;
  std::string own_path_;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool connected_ = false;
  bool done_ = false;
  coordination::Reply reply_;
  coordination::RequestTag next_tag_ = 1;

  zookeeper::ZooKeeperSession session_;
};

}  // namespace forelock::bench
