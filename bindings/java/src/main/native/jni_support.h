// Moving texts and failures between Java and the C interface. Texts are bytes in UTF-8: JNI's own are not.
#pragma once

#include <jni.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

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

// An array of texts. Null is an empty one.
class Texts {
 public:
  Texts(JNIEnv* env, jobjectArray texts);
  // The one with this index of an array of arrays.
  Texts(JNIEnv* env, jobjectArray lists, jsize index);
  // Null for an empty one.
  const char* const* data() const { return pointers_.empty() ? nullptr : pointers_.data(); }
  const Text& operator[](std::size_t index) const { return texts_[index]; }
  std::size_t size() const { return texts_.size(); }

 private:
  void read(JNIEnv* env, jobjectArray texts);

  std::vector<Text> texts_;
  std::vector<const char*> pointers_;
};

class Numbers {
 public:
  Numbers(JNIEnv* env, jlongArray numbers) : values_(static_cast<std::size_t>(env->GetArrayLength(numbers))) {
    env->GetLongArrayRegion(numbers, 0, static_cast<jsize>(values_.size()), values_.data());
  }
  jlong operator[](std::size_t index) const { return values_[index]; }
  std::size_t size() const { return values_.size(); }

 private:
  std::vector<jlong> values_;
};

// A number that Java has as the bits of a double.
inline double real_of(jlong bits) {
  double number = 0;  // GCC 10 has no bit_cast
  static_assert(sizeof number == sizeof bits);
  std::memcpy(&number, &bits, sizeof number);
  return number;
}

// Null if the text is empty, or there is no memory for it (then an exception is pending).
jbyteArray to_java(JNIEnv* env, const char* text);
void store(JNIEnv* env, jobjectArray array, jsize index, const char* text);
void store(JNIEnv* env, jlongArray array, const jlong* values, jsize count);
// Null in place of what there is no memory for; no exception is pending.
void store_if_possible(JNIEnv* env, jobjectArray array, jsize index, const char* text);

// A structure, as numbers_of() and texts_of() have it. Nothing while an exception is pending.
template <class Structure>
void store(JNIEnv* env, const Structure& of, jlongArray numbers) {
  const auto values = numbers_of(of);
  store(env, numbers, values.data(), static_cast<jsize>(values.size()));
}
template <class Structure>
void store(JNIEnv* env, const Structure& of, jlongArray numbers, jobjectArray texts) {
  store(env, of, numbers);
  jsize index = 0;
  for (const char* text : texts_of(of)) store(env, texts, index++, text);
}

// Throws the failure in Java unless `code` is FL_OK. \returns whether it is.
bool check(JNIEnv* env, std::int32_t code);

// A guarded write of a lock or set: `versions` go in, and the new ones come out.
using WriteGuarded = std::int32_t (*)(fl_handle handle, const fl_write* writes, std::size_t count,
                                      std::int32_t* versions);
void write_guarded(JNIEnv* env, WriteGuarded call, fl_handle handle, jintArray kinds, jobjectArray paths,
                   jobjectArray data, jintArray versions);

// Finds what the other functions need. \returns false with an exception pending.
bool prepare(JNIEnv* env);

}  // namespace forelock::jni
