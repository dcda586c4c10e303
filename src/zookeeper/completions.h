// The functions that the C client calls with the replies. Their `call` is a Call; each converts its arguments to a
// Reply for the call's owner. They run on the client's completion thread.
#pragma once

#include <zookeeper/zookeeper.h>

namespace forelock::zookeeper {

void create_done(int code, const char* path, const void* call);
void void_done(int code, const void* call);
void stat_done(int code, const ::Stat* stat, const void* call);
void data_done(int code, const char* data, int length, const ::Stat* stat, const void* call);
void list_done(int code, const String_vector* names, const ::Stat* stat, const void* call);
void sync_done(int code, const char* path, const void* call);
void remove_watch_done(int code, const void* call);
void transaction_done(int code, const void* call);

}  // namespace forelock::zookeeper
