#include "workload/raw_client.h"

#include <chrono>
#include <stdexcept>

namespace forelock::workload {
namespace {

constexpr int session_timeout_ms = 40'000;

void expect_ok(int code, const char* what) {
  if (code != ZOK) throw std::runtime_error(std::string(what) + ": " + zerror(code));
}

}  // namespace

RawClient::RawClient(const std::string& servers, RecordSizes sizes, bool tuned, const std::string& credential)
    : own_record_(sizes.own, 'x'), holder_record_(sizes.holder, 'y') {
  zoo_set_debug_level(static_cast<ZooLogLevel>(0));  // failures are thrown, and need not be on stderr as well
  handle_ = zookeeper_init(servers.c_str(), &on_session, session_timeout_ms, nullptr, this, 0);
  if (handle_ == nullptr) throw std::runtime_error("zookeeper_init failed");
  if (tuned) zoo_set_servers_resolution_delay(handle_, -1);
  if (!credential.empty()) {
    acl_ = &ZOO_CREATOR_ALL_ACL;
    zoo_add_auth(handle_, "digest", credential.data(), static_cast<int>(credential.size()), nullptr, nullptr);
  }
  std::unique_lock guard(connected_.mutex);
  if (!connected_.changed.wait_for(guard, std::chrono::seconds(30), [this] { return connected_.done; })) {
    throw std::runtime_error("the C client does not connect to " + servers);
  }
}

RawClient::~RawClient() {
  zookeeper_close(handle_);
}

void RawClient::on_session(zhandle_t*, int type, int state, const char*, void* context) {
  if (type != ZOO_SESSION_EVENT || state != ZOO_CONNECTED_STATE) return;
  Wait& connected = static_cast<RawClient*>(context)->connected_;
  const std::lock_guard guard(connected.mutex);
  connected.done = true;
  connected.changed.notify_all();
}

void RawClient::on_done(int code, const void* context) {
  Wait& wait = *static_cast<Wait*>(const_cast<void*>(context));
  const std::lock_guard guard(wait.mutex);
  wait.code = code;
  wait.done = true;
  wait.changed.notify_one();
}

void RawClient::on_created(int code, const char*, const void* context) {
  on_done(code, context);
}

void RawClient::wait_for(int submitted, const char* what) {
  expect_ok(submitted, what);
  std::unique_lock guard(wait_.mutex);
  wait_.changed.wait(guard, [this] { return wait_.done; });
  wait_.done = false;
  expect_ok(wait_.code, what);
}

void RawClient::ensure(const std::string& path) {
  const int code = zoo_create(handle_, path.c_str(), "", 0, acl_, ZOO_PERSISTENT, nullptr, 0);
  if (code != ZNODEEXISTS) expect_ok(code, "create");
}

void RawClient::claim(const std::string& monitor) {
  own_prefix_ = monitor + "/A-";
  lock_path_ = monitor + "/privateLock";
  zoo_create_op_init(&operations_[0], own_prefix_.c_str(), own_record_.data(), static_cast<int>(own_record_.size()),
                     acl_, ZOO_EPHEMERAL_SEQUENTIAL, own_path_, sizeof own_path_);
  zoo_create_op_init(&operations_[1], lock_path_.c_str(), "", 0, acl_, ZOO_EPHEMERAL, nullptr, 0);
  zoo_set_op_init(&operations_[2], lock_path_.c_str(), holder_record_.data(), static_cast<int>(holder_record_.size()),
                  -1, &stat_);
  wait_for(zoo_amulti(handle_, 3, operations_, results_, &on_done, &wait_), "claim");
}

void RawClient::claim_fresh(const std::string& monitor) {
  expect_ok(zoo_acreate(handle_, monitor.c_str(), "", 0, acl_, ZOO_CONTAINER, &on_container, &wait_),
            "create container");
  claim(monitor);
}

void RawClient::release() {
  zoo_delete_op_init(&operations_[0], own_path_, -1);
  zoo_delete_op_init(&operations_[1], lock_path_.c_str(), -1);
  wait_for(zoo_amulti(handle_, 2, operations_, results_, &on_done, &wait_), "release");
}

void RawClient::create(const std::string& path) {
  wait_for(zoo_acreate(handle_, path.c_str(), "", 0, acl_, ZOO_PERSISTENT, &on_created, &wait_), "create");
}

void RawClient::remove(const std::string& path) {
  wait_for(zoo_adelete(handle_, path.c_str(), -1, &on_done, &wait_), "delete");
}

}  // namespace forelock::workload
