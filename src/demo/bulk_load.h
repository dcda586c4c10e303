// Bulk propagation: threads that want an article all the time.
#pragma once

#include <thread>
#include <vector>

#include "demo/site.h"
#include "demo/wait_log.h"

namespace forelock::demo {

// The work begins with the constructor; the destructor lets every worker finish the article it is at, and joins them.
class BulkLoad {
 public:
  BulkLoad(Site& site, WaitLog& log);
  ~BulkLoad();
  BulkLoad(const BulkLoad&) = delete;
  BulkLoad& operator=(const BulkLoad&) = delete;

 private:
  std::vector<std::jthread> workers_;
};

}  // namespace forelock::demo
