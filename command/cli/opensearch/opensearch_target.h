// An OpenSearchTarget does the writes of dead letters again.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>

#include "cli/failure.h"
#include "cli/opensearch/write_letter.h"
#include "drain/replayer.h"
#include "http/http_client.h"

namespace forelock::cli {

// Sends each letter's write to a node with the plugin, which takes the document's lock at background priority; it does
// not write into an index that is not guarded. Thread-safe.
class OpenSearchTarget {
 public:
  // Asks the server whether it has the plugin. `stop` ends the replay. \throws FailureException if there is no answer,
  // no plugin, or no permission.
  OpenSearchTarget(http::ServerUrl url, http::HttpOptions options, std::chrono::milliseconds lock_timeout,
                   std::stop_source stop);

  // Done: the write was confirmed; a deletion also where there is nothing to be deleted. Later: no answer or one that
  // is not OpenSearch's, no index, no lock, not guarded, the server has too much to do, or it does not permit it.
  // Failed: whatever else it refuses.
  drain::TryResult operator()(const drain::StoredLetter& letter);

  // Whether the server refused the credentials, which stops the replay.
  bool not_authorized() const { return not_authorized_; }
  Failure authorization_failure() const;

 private:
  void look_for_plugin();
  // Whether the index is there: a write would make a new one otherwise. Nothing, if there was no answer.
  std::optional<bool> has_index(const std::string& path);
  drain::TryResult judge(const WriteRequest& write, const http::HttpResponse& response);

  http::HttpClient client_;
  const std::chrono::milliseconds lock_timeout_;
  std::stop_source stop_;
  std::atomic<bool> not_authorized_ = false;
  std::mutex mutex_;
  std::set<std::string> indices_;  // paths of those that were there
};

}  // namespace forelock::cli
