#include "jni_support.h"

#include <cstring>
#include <vector>

// The static YAML reader addresses this variable of the C library in a way that only programs can. A variable of this
// library's own takes its place: "there may be other threads", which is right whenever a JVM is there.
extern "C" {
__attribute__((visibility("hidden"))) char __libc_single_threaded = 0;
}

namespace forelock::jni {
namespace {

jclass failures = nullptr;
jmethodID raise = nullptr;
jclass out_of_memory = nullptr;

}  // namespace

void throw_out_of_memory(JNIEnv* env) noexcept {
  if (env->ExceptionCheck() == JNI_FALSE) env->ThrowNew(out_of_memory, "no memory for a native call of forelock");
}

Texts::Texts(JNIEnv* env, jobjectArray texts) {
  read(env, texts);
}

Texts::Texts(JNIEnv* env, jobjectArray lists, jsize index) {
  const auto texts = static_cast<jobjectArray>(env->GetObjectArrayElement(lists, index));
  read(env, texts);
  env->DeleteLocalRef(texts);
}

void Texts::read(JNIEnv* env, jobjectArray texts) {
  const jsize count = texts == nullptr ? 0 : env->GetArrayLength(texts);
  texts_.reserve(static_cast<std::size_t>(count));
  for (jsize i = 0; i < count; ++i) {
    const auto bytes = static_cast<jbyteArray>(env->GetObjectArrayElement(texts, i));
    pointers_.push_back(texts_.emplace_back(env, bytes).c_str());
    env->DeleteLocalRef(bytes);
  }
}

jbyteArray to_java(JNIEnv* env, const char* text) {
  const auto length = static_cast<jsize>(std::strlen(text));
  if (length == 0) return nullptr;
  jbyteArray bytes = env->NewByteArray(length);
  if (bytes != nullptr) env->SetByteArrayRegion(bytes, 0, length, reinterpret_cast<const jbyte*>(text));
  return bytes;
}

void store(JNIEnv* env, jobjectArray array, jsize index, const char* text) {
  if (env->ExceptionCheck() != JNI_FALSE) return;
  jbyteArray bytes = to_java(env, text);
  if (env->ExceptionCheck() != JNI_FALSE) return;
  env->SetObjectArrayElement(array, index, bytes);
  env->DeleteLocalRef(bytes);
}

void store_if_possible(JNIEnv* env, jobjectArray array, jsize index, const char* text) {
  jbyteArray bytes = to_java(env, text);
  env->ExceptionClear();
  env->SetObjectArrayElement(array, index, bytes);
  env->DeleteLocalRef(bytes);
}

void store(JNIEnv* env, jlongArray array, const jlong* values, jsize count) {
  if (env->ExceptionCheck() == JNI_FALSE) env->SetLongArrayRegion(array, 0, count, values);
}

bool check(JNIEnv* env, std::int32_t code) {
  if (code == FL_OK) return true;
  jbyteArray message = to_java(env, fl_last_message());
  jbyteArray hint = env->ExceptionCheck() == JNI_FALSE ? to_java(env, fl_last_hint()) : nullptr;
  jbyteArray monitor = env->ExceptionCheck() == JNI_FALSE ? to_java(env, fl_last_monitor()) : nullptr;
  // It throws, which makes the exception pending here.
  if (env->ExceptionCheck() == JNI_FALSE) env->CallStaticVoidMethod(failures, raise, code, message, hint, monitor);
  return false;
}

void write_guarded(JNIEnv* env, WriteGuarded call, fl_handle handle, jintArray kinds, jobjectArray paths,
                   jobjectArray data, jintArray versions) {
  const auto count = static_cast<std::size_t>(env->GetArrayLength(kinds));
  std::vector<jint> kind(count);
  std::vector<jint> version(count);
  env->GetIntArrayRegion(kinds, 0, static_cast<jsize>(count), kind.data());
  env->GetIntArrayRegion(versions, 0, static_cast<jsize>(count), version.data());
  const Texts path(env, paths);
  const Texts content(env, data);
  std::vector<fl_write> writes;
  for (std::size_t i = 0; i < count; ++i) {
    writes.push_back({kind[i], version[i], path[i].c_str(), content[i].data(), content[i].size()});
  }
  std::vector<std::int32_t> results(count);
  if (!check(env, call(handle, writes.data(), count, results.data()))) return;
  env->SetIntArrayRegion(versions, 0, static_cast<jsize>(count), results.data());
}

bool prepare(JNIEnv* env) {
  jclass found = env->FindClass("org/forelock/Failures");
  if (found == nullptr) return false;
  failures = static_cast<jclass>(env->NewGlobalRef(found));
  raise = env->GetStaticMethodID(found, "raise", "(I[B[B[B)V");
  if (failures == nullptr || raise == nullptr) return false;
  found = env->FindClass("java/lang/OutOfMemoryError");
  if (found == nullptr) return false;
  out_of_memory = static_cast<jclass>(env->NewGlobalRef(found));
  return out_of_memory != nullptr;
}

}  // namespace forelock::jni

extern "C" JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM* vm, void*) {
  void* env = nullptr;
  if (vm->GetEnv(&env, JNI_VERSION_1_8) != JNI_OK) return JNI_ERR;
  return forelock::jni::prepare(static_cast<JNIEnv*>(env)) ? JNI_VERSION_1_8 : JNI_ERR;
}
