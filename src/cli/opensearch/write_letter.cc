#include "cli/opensearch/write_letter.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>

#include "http/percent_encoding.h"

namespace forelock::cli {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t known_schema = 1;
// Beyond the wait for the lock, the primary and its copies need time.
constexpr std::chrono::seconds time_to_write{60};

struct Invalid {
  std::string message;
};

const Json* find(const Json& write, const char* name) {
  const auto found = write.find(name);
  return found == write.end() || found->is_null() ? nullptr : &*found;
}

std::string text(const Json& write, const char* name) {
  const Json* const value = find(write, name);
  if (value == nullptr) return {};
  if (!value->is_string()) throw Invalid{std::string("its '") + name + "' is no text"};
  return value->get<std::string>();
}

std::string required(const Json& write, const char* name) {
  std::string value = text(write, name);
  if (value.empty()) throw Invalid{std::string("it has no '") + name + "'"};
  return value;
}

// The parameters of a request.
class Query {
 public:
  void add(const char* name, const std::string& value) {
    if (!value.empty()) text_ += (text_.empty() ? "?" : "&") + std::string(name) + '=' + http::percent_encoded(value);
  }
  void add_text(const Json& write, const char* name) { add(name, cli::text(write, name)); }
  void add_number(const Json& write, const char* name) {
    const Json* const value = find(write, name);
    if (value == nullptr) return;
    if (!value->is_number_integer()) throw Invalid{std::string("its '") + name + "' is no whole number"};
    add(name, value->dump());
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

http::HttpRequest request_of(const Json& write, std::chrono::milliseconds lock_timeout) {
  const std::string operation = required(write, "op");
  const std::string index = required(write, "index");
  const std::string id = required(write, "id");
  if (index.starts_with('_')) throw Invalid{"its 'index' is none"};
  http::HttpRequest request;
  Query query;
  if (operation == "index" || operation == "create") {
    request.method = "PUT";
    query.add("op_type", operation);
    query.add_text(write, "pipeline");
  } else if (operation == "update") {
    request.method = "POST";
    query.add_number(write, "retry_on_conflict");
  } else if (operation == "delete") {
    request.method = "DELETE";
  } else {
    throw Invalid{"its 'op' is none of index, create, update, delete"};
  }
  for (const char* name : {"routing", "version_type"}) query.add_text(write, name);
  for (const char* name : {"if_seq_no", "if_primary_term", "version"}) query.add_number(write, name);
  query.add("timeout", std::to_string(lock_timeout.count()) + "ms");
  request.path = '/' + http::percent_encoded(index) + (operation == "update" ? "/_update/" : "/_doc/") +
                 http::percent_encoded(id) + query.text();
  if (operation != "delete") request.body = required(write, "source");
  request.timeout = lock_timeout + time_to_write;
  return request;
}

}  // namespace

std::variant<http::HttpRequest, PayloadFault> write_request(std::string_view payload,
                                                            std::chrono::milliseconds lock_timeout) {
  const Json write = Json::parse(payload, nullptr, false);
  try {
    if (!write.is_object()) throw Invalid{"it is no JSON object"};
    const Json* const schema = find(write, "schema");
    if (schema == nullptr || !schema->is_number_integer()) throw Invalid{"it has no 'schema'"};
    if (schema->get<std::int64_t>() > known_schema) {
      return PayloadFault{true, "the payload is of schema " + schema->dump() + ", which this version does not know"};
    }
    return request_of(write, lock_timeout);
  } catch (const Invalid& problem) {
    return PayloadFault{false, "the payload is no write of OpenSearch: " + problem.message};
  }
}

}  // namespace forelock::cli
