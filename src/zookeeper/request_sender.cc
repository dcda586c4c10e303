#include "zookeeper/request_sender.h"

#include <cstddef>
#include <string>

#include "coordination/request.h"
#include "zookeeper/completions.h"

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

int client_mode(CreateMode mode) {
  switch (mode) {
    case CreateMode::persistent:
      return ZOO_PERSISTENT;
    case CreateMode::container:
      return ZOO_CONTAINER;
    case CreateMode::ephemeral:
      return ZOO_EPHEMERAL;
    case CreateMode::ephemeral_sequential:
      return ZOO_EPHEMERAL_SEQUENTIAL;
  }
  return ZOO_PERSISTENT;
}

int length(const std::string& data) {
  return static_cast<int>(data.size());
}

// The server appends ten digits to a sequential name, eleven characters when its counter has overflowed.
std::size_t created_path_size(const Create& create) {
  return create.path.size() + 12;
}

struct Sender {
  zhandle_t* handle;
  const AclVector& acl;
  Call* call;

  watcher_fn watcher(bool watch) const { return watch ? &receive_watch : nullptr; }

  int operator()(const Create& create) const {
    return zoo_acreate(handle, create.path.c_str(), create.data.data(), length(create.data), acl.get(),
                       client_mode(create.mode), &create_done, call);
  }
  int operator()(const Delete& request) const {
    return zoo_adelete(handle, request.path.c_str(), request.version, &void_done, call);
  }
  int operator()(const SetData& request) const {
    return zoo_aset(handle, request.path.c_str(), request.data.data(), length(request.data), request.version,
                    &stat_done, call);
  }
  int operator()(const Get& request) const {
    return zoo_awget(handle, request.path.c_str(), watcher(request.watch), call->owner, &data_done, call);
  }
  int operator()(const Exists& request) const {
    return zoo_awexists(handle, request.path.c_str(), watcher(request.watch), call->owner, &stat_done, call);
  }
  int operator()(const List& request) const {
    return zoo_awget_children2(handle, request.path.c_str(), watcher(request.watch), call->owner, &list_done, call);
  }
  int operator()(const Sync& request) const { return zoo_async(handle, request.path.c_str(), &sync_done, call); }

  int operator()(const RemoveDataWatch& request) const {
    // The "all" variant: the other one only asks the server whether the watch is there, and leaves it there. The
    // parameter is declared as a pointer to a function pointer, but taken as the function pointer itself.
    return zoo_aremove_all_watches(handle, request.path.c_str(), ZWATCHTYPE_DATA, 0,
                                   reinterpret_cast<void_completion_t*>(&remove_watch_done), call);
  }

  int operator()(const Transaction& transaction) const {
    prepare_buffers(transaction);
    char* path_buffer = call->path_buffers.data();
    for (std::size_t i = 0; i < transaction.operations.size(); ++i) {
      zoo_op_t* operation = &call->operations[i];
      if (const auto* create = std::get_if<Create>(&transaction.operations[i])) {
        const std::size_t size = created_path_size(*create);
        zoo_create_op_init(operation, create->path.c_str(), create->data.data(), length(create->data), acl.get(),
                           client_mode(create->mode), path_buffer, static_cast<int>(size));
        path_buffer += size;
      } else if (const auto* erase = std::get_if<Delete>(&transaction.operations[i])) {
        zoo_delete_op_init(operation, erase->path.c_str(), erase->version);
      } else if (const auto* set = std::get_if<SetData>(&transaction.operations[i])) {
        zoo_set_op_init(operation, set->path.c_str(), set->data.data(), length(set->data), set->version,
                        &call->stats[i]);
      } else if (const auto* check = std::get_if<Check>(&transaction.operations[i])) {
        zoo_check_op_init(operation, check->path.c_str(), check->version);
      }
    }
    return zoo_amulti(handle, static_cast<int>(call->operations.size()), call->operations.data(), call->results.data(),
                      &transaction_done, call);
  }

  void prepare_buffers(const Transaction& transaction) const {
    const std::size_t count = transaction.operations.size();
    std::size_t path_bytes = 0;
    for (const Operation& operation : transaction.operations) {
      if (const auto* create = std::get_if<Create>(&operation)) path_bytes += created_path_size(*create);
    }
    call->operations.assign(count, zoo_op_t{});
    call->results.assign(count, zoo_op_result_t{});
    call->stats.assign(count, ::Stat{});
    call->path_buffers.assign(path_bytes, '\0');
  }
};

}  // namespace

std::size_t request_size(const Request& request, std::size_t acl_bytes) {
  return request_header + std::visit(BodySize{acl_bytes}, request);
}

int send_request(zhandle_t* handle, const AclVector& acl, Call* call, const Request& request) {
  return std::visit(Sender{handle, acl, call}, request);
}

}  // namespace forelock::zookeeper
