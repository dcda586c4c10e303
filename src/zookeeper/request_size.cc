#include "zookeeper/request_size.h"

#include <string>

namespace forelock::zookeeper {
namespace {

using namespace coordination;

constexpr std::size_t request_header = 8;
constexpr std::size_t operation_header = 9;

std::size_t text(const std::string& value) {
  return 4 + value.size();
}

struct BodySize {
  std::size_t acl_bytes;

  std::size_t operator()(const Create& create) const { return text(create.path) + text(create.data) + acl_bytes + 4; }
  std::size_t operator()(const Delete& request) const { return text(request.path) + 4; }
  std::size_t operator()(const SetData& request) const { return text(request.path) + text(request.data) + 4; }
  std::size_t operator()(const Check& check) const { return text(check.path) + 4; }
  std::size_t operator()(const Get& request) const { return text(request.path) + 1; }
  std::size_t operator()(const Exists& request) const { return text(request.path) + 1; }
  std::size_t operator()(const List& request) const { return text(request.path) + 1; }
  std::size_t operator()(const Sync& request) const { return text(request.path); }
  std::size_t operator()(const RemoveDataWatch& request) const { return text(request.path) + 4; }
  std::size_t operator()(const Transaction& transaction) const {
    std::size_t size = operation_header;  // the end mark
    for (const Operation& operation : transaction.operations) size += operation_header + std::visit(*this, operation);
    return size;
  }
};

}  // namespace

std::size_t request_size(const Request& request, std::size_t acl_bytes) {
  return request_header + std::visit(BodySize{acl_bytes}, request);
}

}  // namespace forelock::zookeeper
