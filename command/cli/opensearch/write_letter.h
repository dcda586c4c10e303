// A WriteLetter is the payload of a dead letter of the plugin for OpenSearch: one write of one document.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <variant>

#include "http/http_client.h"

namespace forelock::cli {

// The type of such letters.
inline constexpr std::string_view opensearch_write_type = "opensearch_write";

// Why a payload is none that can be sent; never quotes it.
struct PayloadFault {
  bool too_new = false;  // a newer version wrote it
  std::string message;
};

// The request that does one write.
struct WriteRequest {
  http::HttpRequest request;
  std::string index_path;  // of its index alone
  std::string id;          // of its document
  bool is_bulk = false;    // it is a bulk of one, answered as such
};

// The request that does the write of a payload (docs/opensearch-write.schema.json), waiting for the document's lock for
// `lock_timeout`. Its path begins with `_doc` or `_bulk` behind the index, and everything of the payload in it is
// encoded.
std::variant<WriteRequest, PayloadFault> write_request(std::string_view payload,
                                                       std::chrono::milliseconds lock_timeout);

}  // namespace forelock::cli
