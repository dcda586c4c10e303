// The jobs of the comparison by the C interface, as a host that embeds it would run them: blocking calls in threads, or
// many monitors from one thread that polls.
#pragma once

#include <string>

#include "forelock/c.h"
#include "workload/job.h"

namespace forelock::bench {

class CLoad {
 public:
  // Connects. \throws std::runtime_error with the interface's message, as run() does.
  explicit CLoad(const std::string& servers);
  ~CLoad();
  CLoad(const CLoad&) = delete;
  CLoad& operator=(const CLoad&) = delete;

  workload::JobResult run(const workload::Job& job);

 private:
  fl_client client_ = 0;
};

}  // namespace forelock::bench
