// Moving texts and failures between Java and the C interface. Texts are bytes in UTF-8: JNI's own are not.
#pragma once

#include <jni.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "forelock/c.h"

namespace forelock::jni {

// What there is no memory for. Nothing if an exception is pending.
void throw_out_of_memory(JNIEnv* env) noexcept;

// Runs the body of a native method. An exception of C++ must not reach the JVM, which would end: it becomes an
// OutOfMemoryError, since nothing else is thrown here. \returns what the body does; then, 0.
template <class Body>
auto guarded(JNIEnv* env, Body&& body) noexcept -> decltype(body()) {
  using Result = decltype(body());
  try {
    return body();
  } catch (...) {
    throw_out_of_memory(env);
  }
  if constexpr (!std::is_void_v<Result>) return Result();
}

// A byte array of Java as a text of C; null stays null.
class Text {
 public:
  Text(JNIEnv* env, jbyteArray bytes) : absent_(bytes == nullptr) {
    if (absent_) return;
    value_.resize(static_cast<std::size_t>(env->GetArrayLength(bytes)));
    env->GetByteArrayRegion(bytes, 0, static_cast<jsize>(value_.size()), reinterpret_cast<jbyte*>(value_.data()));
  }
  const char* c_str() const { return absent_ ? nullptr : value_.c_str(); }
  const void* data() const { return value_.data(); }
  std::size_t size() const { return value_.size(); }

 private:
  const bool absent_;
  std::string value_;
};

// Null if the text is empty, or there is no memory for it (then an exception is pending).
jbyteArray to_java(JNIEnv* env, const char* text);
void store(JNIEnv* env, jobjectArray array, jsize index, const char* text);
void store(JNIEnv* env, jlongArray array, const jlong* values, jsize count);
// Null in place of what there is no memory for; no exception is pending.
void store_if_possible(JNIEnv* env, jobjectArray array, jsize index, const char* text);

// Throws the failure in Java unless `code` is FL_OK. \returns whether it is.
bool check(JNIEnv* env, std::int32_t code);

// `thread` must outlive the result.
fl_lock_options lock_options(jlong expected_ms, jlong auto_unlock_ms, jlong flags, jlong queue_max, const Text& thread);

// A guarded write of a lock or set: `versions` go in, and the new ones come out.
using WriteGuarded = std::int32_t (*)(fl_handle handle, const fl_write* writes, std::size_t count,
                                      std::int32_t* versions);
void write_guarded(JNIEnv* env, WriteGuarded call, fl_handle handle, jintArray kinds, jobjectArray paths,
                   jobjectArray data, jintArray versions);

// Finds what the other functions need. \returns false with an exception pending.
bool prepare(JNIEnv* env);

}  // namespace forelock::jni
