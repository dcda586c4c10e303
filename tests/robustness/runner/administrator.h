// Somebody with full rights who changes nodes by hand, and looks after the run.
#pragma once

#include <zookeeper/zookeeper.h>

#include "support/standard.h"

namespace forelock::robustness {

// A session of the bare C client. Thread-safe: one call at a time. Calls take at most some seconds; one that fails says
// so by its result.
class Administrator {
 public:
  // Makes the connection in the background. `servers` as the C client takes them.
  explicit Administrator(std::string servers);
  ~Administrator();
  Administrator(const Administrator&) = delete;
  Administrator& operator=(const Administrator&) = delete;

  std::optional<std::vector<std::string>> children(const std::string& path);
  struct Node {
    std::string data;
    std::int64_t session = 0;  // its owner; 0 for a persistent one
  };
  std::optional<Node> get(const std::string& path);
  bool create(const std::string& path, const std::string& data);
  // All of them or none.
  bool remove(const std::vector<std::string>& paths);
  // What everybody may do: sum of ZOO_PERM_….
  bool permit(const std::string& path, std::int32_t permissions);
  // Ends the session; the next call makes another one.
  void disconnect();
  // Waits until what the leader has is seen here.
  bool sync(const std::string& path);

 private:
  struct Answer;
  // Submits a call, which must answer on the Answer that it is given, and waits. \returns ZOK if all went well.
  int ask(const std::function<int(zhandle_t*, const void*)>& submit, Answer& answer);
  zhandle_t* connected();
  void close_handle();

  const std::string servers_;
  std::mutex mutex_;
  zhandle_t* handle_ = nullptr;
};

}  // namespace forelock::robustness
