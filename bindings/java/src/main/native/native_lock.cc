// The native methods of org.forelock.Native for events, guarded writes and members that are no plain calls.
#include <array>
#include <tuple>
#include <vector>

#include "native_structures.h"

using namespace forelock::jni;

namespace {

constexpr std::size_t max_events = 256;

}  // namespace

extern "C" {

JNIEXPORT jint JNICALL Java_org_forelock_Native_checkAbi(JNIEnv* env, jclass) {
  return guarded(env, [&]() -> jint { return fl_check_abi(FL_ABI_VERSION); });
}

JNIEXPORT jint JNICALL Java_org_forelock_Native_poll(JNIEnv* env, jclass, jlong client, jlong timeout,
                                                     jlongArray numbers, jobjectArray texts) {
  return guarded(env, [&]() -> jint {
    constexpr auto width = static_cast<jsize>(std::tuple_size_v<decltype(numbers_of(fl_event{}))>);
    std::array<fl_event, max_events> events;
    const jsize room = env->GetArrayLength(numbers) / width;
    const auto count = fl_poll(static_cast<fl_client>(client), timeout, events.data(), static_cast<std::size_t>(room));
    if (count < 0) return static_cast<jint>(count);
    jsize next_text = 0;
    for (jsize i = 0; i < static_cast<jsize>(count); ++i) {
      const fl_event& event = events[static_cast<std::size_t>(i)];
      env->SetLongArrayRegion(numbers, i * width, width, numbers_of(event).data());
      // It will not come again: it arrives without its texts rather than not at all.
      for (const char* text : texts_of(event)) store_if_possible(env, texts, next_text++, text);
    }
    return static_cast<jint>(count);
  });
}

JNIEXPORT void JNICALL Java_org_forelock_Native_lockWriteGuarded(JNIEnv* env, jclass, jlong lock, jintArray kinds,
                                                                 jobjectArray paths, jobjectArray data,
                                                                 jintArray versions) {
  guarded(env,
          [&] { write_guarded(env, fl_lock_write_guarded, static_cast<fl_lock>(lock), kinds, paths, data, versions); });
}

JNIEXPORT void JNICALL Java_org_forelock_Native_setMembers(JNIEnv* env, jclass, jlong set, jobjectArray texts) {
  guarded(env, [&] {
    const jsize count = env->GetArrayLength(texts);
    for (jsize i = 0; i < count; ++i) {
      const char* monitor = nullptr;
      if (!check(env, fl_set_member(static_cast<fl_set>(set), static_cast<std::size_t>(i), &monitor, nullptr))) return;
      store(env, texts, i, monitor);
    }
  });
}

JNIEXPORT void JNICALL Java_org_forelock_Native_setTokens(JNIEnv* env, jclass, jlong set, jlongArray tokens) {
  guarded(env, [&] {
    std::vector<jlong> values(static_cast<std::size_t>(env->GetArrayLength(tokens)));
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::int64_t token = 0;
      if (!check(env, fl_set_member(static_cast<fl_set>(set), i, nullptr, &token))) return;
      values[i] = token;
    }
    store(env, tokens, values.data(), static_cast<jsize>(values.size()));
  });
}
}
