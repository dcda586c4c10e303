#include "cli/opensearch/write_letter.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "http/http_client.h"

namespace forelock::cli {
namespace {

constexpr std::int64_t known_schema = 1;
// Beyond the wait for the lock, the primary and its copies need time.
constexpr std::chrono::seconds time_to_write{60};

struct Invalid {
  std::string message;
};

const nlohmann::json* find(const nlohmann::json& write, const char* name) {
  const auto found = write.find(name);
  return found == write.end() || found->is_null() ? nullptr : &*found;
}

std::string text(const nlohmann::json& write, const char* name) {
  const nlohmann::json* const value = find(write, name);
  if (value == nullptr) return {};
  if (!value->is_string()) throw Invalid{std::string("its '") + name + "' is no text"};
  return value->get<std::string>();
}

std::string required(const nlohmann::json& write, const char* name) {
  std::string value = text(write, name);
  if (value.empty()) throw Invalid{std::string("it has no '") + name + "'"};
  return value;
}

const nlohmann::json* number(const nlohmann::json& write, const char* name) {
  const nlohmann::json* const value = find(write, name);
  if (value != nullptr && !value->is_number_integer())
    throw Invalid{std::string("its '") + name + "' is no whole number"};
  return value;
}

// What qualifies every kind of write, in the order of a request.
constexpr const char* text_keys[] = {"routing", "version_type"};
constexpr const char* number_keys[] = {"if_seq_no", "if_primary_term", "version"};

// The parameters of a request.
class Query {
 public:
  void add(const char* name, const std::string& value) {
    if (!value.empty()) text_ += (text_.empty() ? "?" : "&") + std::string(name) + '=' + http::percent_encoded(value);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// A bulk of one: by itself an update executes the pipelines of its index on the whole document, in a bulk it does not.
void make_update(const nlohmann::json& write, Query& query, WriteRequest& made) {
  nlohmann::json about{{"_id", made.id}};
  for (const char* name : text_keys) {
    if (const std::string value = text(write, name); !value.empty()) about[name] = value;
  }
  for (const char* name : number_keys) {
    if (const nlohmann::json* const value = number(write, name)) about[name] = *value;
  }
  if (const nlohmann::json* const value = number(write, "retry_on_conflict")) about["retry_on_conflict"] = *value;
  std::string source = required(write, "source");
  // One line: in JSON these are only between the values.
  std::replace_if(
      source.begin(), source.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  made.is_bulk = true;
  made.request.method = "POST";
  made.request.path = made.index_path + "/_bulk";
  made.request.body = nlohmann::json{{"update", about}}.dump() + '\n' + source + '\n';
  made.request.content_type = "application/x-ndjson";
  made.request.once = true;
  query.add("pipeline", "_none");
  query.add("filter_path", "error,status,items.*._id,items.*.result,items.*.status,items.*.error");
}

void make_other(const std::string& operation, const nlohmann::json& write, Query& query, WriteRequest& made) {
  http::HttpRequest& request = made.request;
  if (operation == "index" || operation == "create") {
    request.method = "PUT";
    query.add("op_type", operation);
    query.add("pipeline", text(write, "pipeline"));
    request.body = required(write, "source");
  } else if (operation == "delete") {
    request.method = "DELETE";
  } else {
    throw Invalid{"its 'op' is none of index, create, update, delete"};
  }
  bool conditional = operation == "create";
  for (const char* name : text_keys) query.add(name, text(write, name));
  for (const char* name : number_keys) {
    if (const nlohmann::json* const value = number(write, name)) {
      query.add(name, value->dump());
      conditional = true;
    }
  }
  request.once = conditional;  // a second one would be refused
  request.path = made.index_path + "/_doc/" + http::percent_encoded(made.id);
}

WriteRequest request_of(const nlohmann::json& write, std::chrono::milliseconds lock_timeout) {
  const std::string operation = required(write, "op");
  const std::string index = required(write, "index");
  WriteRequest made;
  made.id = required(write, "id");
  if (index.starts_with('_')) throw Invalid{"its 'index' is none"};
  made.index_path = '/' + http::percent_encoded(index);
  Query query;
  if (operation == "update") {
    make_update(write, query, made);
  } else {
    make_other(operation, write, query, made);
  }
  query.add("timeout", std::to_string(lock_timeout.count()) + "ms");
  made.request.path += query.text();
  made.request.timeout = lock_timeout + time_to_write;
  return made;
}

}  // namespace

std::variant<WriteRequest, PayloadFault> write_request(std::string_view payload,
                                                       std::chrono::milliseconds lock_timeout) {
  const nlohmann::json write = nlohmann::json::parse(payload, nullptr, false);
  try {
    if (!write.is_object()) throw Invalid{"it is no JSON object"};
    const nlohmann::json* const schema = find(write, "schema");
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
