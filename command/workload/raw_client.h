// The bare C client: what the same transactions cost without Forelock.
#pragma once

#include <zookeeper/zookeeper.h>

#include <condition_variable>
#include <mutex>
#include <string>

namespace forelock::workload {

// How big the records are that Forelock writes, and so this floor does too.
struct RecordSizes {
  std::size_t own = 400;
  std::size_t holder = 450;
};

// One session of the C client and the two transactions of an uncontended cycle. Every call waits for its reply. Throws
// std::runtime_error when one fails. Not thread-safe.
class RawClient {
 public:
  // As shipped, the client looks the servers' names up before every wait for its socket. `tuned` turns that off, as
  // Forelock's session does, so that it does not count in our favour.
  // `credential`: "user:password" of the digest scheme; only its owner may then use what is created.
  explicit RawClient(const std::string& servers, RecordSizes sizes = {}, bool tuned = true,
                     const std::string& credential = {});
  ~RawClient();
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  // A persistent node, if it does not exist.
  void ensure(const std::string& path);

  // The floor: zoo_amulti, and a condition variable that the completion notifies.
  void claim(const std::string& monitor);
  void release();

  // The same in a monitor that does not exist: its container is made in the same breath.
  void claim_fresh(const std::string& monitor);

  // One small persistent node, asynchronously as above.
  void create(const std::string& path);
  void remove(const std::string& path);

  // For more than one request at a time.
  zhandle_t* handle() { return handle_; }
  const ACL_vector& acl() const { return *acl_; }

 private:
  struct Wait {
    std::mutex mutex;
    std::condition_variable changed;
    bool done = false;
    int code = ZOK;
  };

  static void on_session(zhandle_t*, int type, int state, const char*, void* context);
  static void on_done(int code, const void* context);
  static void on_container(int, const char*, const void*) {}
  static void on_created(int code, const char*, const void* context);
  void wait_for(int submitted, const char* what);

  std::string own_record_;
  std::string holder_record_;
  std::string own_prefix_;
  std::string lock_path_;
  char own_path_[512] = {};
  ::Stat stat_{};
  zoo_op_t operations_[3];
  zoo_op_result_t results_[3];
  Wait connected_;
  Wait wait_;
  const ACL_vector* acl_ = &ZOO_OPEN_ACL_UNSAFE;
  zhandle_t* handle_ = nullptr;
};

}  // namespace forelock::workload
