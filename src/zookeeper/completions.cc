#include "zookeeper/completions.h"

#include <utility>

#include "zookeeper/reply_mapping.h"
#include "zookeeper/session_core.h"

namespace forelock::zookeeper {
namespace {

using coordination::Reply;
using coordination::ReplyCode;

// The C client hands the context through as const, although it is ours.
Call* to_call(const void* context) {
  return static_cast<Call*>(const_cast<void*>(context));
}

Reply with_code(int code) {
  Reply reply;
  reply.code = reply_code(code);
  return reply;
}

void finish(const void* context, Reply reply) {
  Call* call = to_call(context);
  call->owner->finish(call, std::move(reply));
}

}  // namespace

void create_done(int code, const char* path, const void* context) {
  Call* call = to_call(context);
  if (call->container && (code == ZUNIMPLEMENTED || code == ZBADARGUMENTS)) {
    call->owner->retry_without_container(call);
    return;
  }
  Reply reply = with_code(code);
  if (code == ZOK && path != nullptr) reply.path = call->owner->prefix().relative(path);
  finish(context, std::move(reply));
}

void void_done(int code, const void* context) {
  finish(context, with_code(code));
}

void stat_done(int code, const ::Stat* stat, const void* context) {
  Reply reply = with_code(code);
  if (code == ZOK && stat != nullptr) reply.stat = to_stat(*stat);
  finish(context, std::move(reply));
}

void data_done(int code, const char* data, int length, const ::Stat* stat, const void* context) {
  Reply reply = with_code(code);
  // A node created without data by another client has the length -1.
  if (code == ZOK && data != nullptr && length > 0) reply.data.assign(data, static_cast<std::size_t>(length));
  if (code == ZOK && stat != nullptr) reply.stat = to_stat(*stat);
  finish(context, std::move(reply));
}

void list_done(int code, const String_vector* names, const ::Stat* stat, const void* context) {
  Reply reply = with_code(code);
  if (code == ZOK && names != nullptr) reply.children.assign(names->data, names->data + names->count);
  if (code == ZOK && stat != nullptr) reply.stat = to_stat(*stat);
  finish(context, std::move(reply));
}

void sync_done(int code, const char* /*path*/, const void* context) {
  finish(context, with_code(code));
}

void remove_watch_done(int code, const void* context) {
  Reply reply = with_code(code);
  // The watch has fired or was never there: it is gone, as asked.
  if (code == ZNOWATCHER || code == ZNONODE) reply.code = ReplyCode::ok;
  finish(context, std::move(reply));
}

void transaction_done(int code, const void* context) {
  Call* call = to_call(context);
  Reply reply = with_code(code);
  // Only the overall code counts: the operations before the failed one read "ok" although they were rolled back.
  if (code == ZOK) {
    reply.operations.resize(call->operations.size());
    for (std::size_t i = 0; i < call->operations.size(); ++i) {
      const zoo_op_result_t& result = call->results[i];
      if (result.value != nullptr) reply.operations[i].path = call->owner->prefix().relative(result.value);
      if (result.stat != nullptr) reply.operations[i].stat = to_stat(*result.stat);
    }
  } else if (coordination::answered_by_server(reply.code)) {
    for (std::size_t i = 0; i < call->operations.size() && !reply.refused_operation; ++i) {
      if (call->results[i].err == code) reply.refused_operation = i;
    }
  }
  finish(context, std::move(reply));
}

}  // namespace forelock::zookeeper
