// The native methods of org.forelock.Native for lock sets.
#include <vector>

#include "jni_support.h"

using namespace forelock::jni;

namespace {

fl_set handle(jlong number) {
  return static_cast<fl_set>(number);
}

}  // namespace

extern "C" {

JNIEXPORT jlong JNICALL Java_org_forelock_Native_setNew(JNIEnv* env, jclass, jlong client, jbyteArray info,
                                                        jobjectArray monitors, jint priority, jlong expected,
                                                        jlong auto_unlock, jlong flags, jlong queue_max,
                                                        jbyteArray thread) {
  return guarded(env, [&]() -> jlong {
    const jsize count = env->GetArrayLength(monitors);
    std::vector<Text> texts;
    texts.reserve(static_cast<std::size_t>(count));
    std::vector<const char*> ids;
    for (jsize i = 0; i < count; ++i) {
      auto bytes = static_cast<jbyteArray>(env->GetObjectArrayElement(monitors, i));
      ids.push_back(texts.emplace_back(env, bytes).c_str());
      env->DeleteLocalRef(bytes);
    }
    fl_set set = 0;
    const Text name(env, thread);
    const fl_lock_options options = lock_options(expected, auto_unlock, flags, queue_max, name);
    check(env, fl_set_new(handle(client), Text(env, info).c_str(), ids.data(), ids.size(), priority, &options, &set));
    return static_cast<jlong>(set);
  });
}

JNIEXPORT jboolean JNICALL Java_org_forelock_Native_setAcquireWithin(JNIEnv* env, jclass, jlong set, jlong timeout,
                                                                     jboolean try_once, jlong block, jlong tag,
                                                                     jbyteArray stack) {
  return guarded(env, [&]() -> jboolean {
    const auto number = static_cast<std::uint64_t>(tag);
    std::int32_t pending = 0;
    if (stack != nullptr && !check(env, fl_set_set_stack(handle(set), Text(env, stack).c_str()))) return JNI_FALSE;
    check(env, try_once != JNI_FALSE ? fl_set_try_within(handle(set), block, number, &pending)
                                     : fl_set_acquire_within(handle(set), timeout, block, number, &pending));
    return pending != 0 ? JNI_TRUE : JNI_FALSE;
  });
}

JNIEXPORT jboolean JNICALL Java_org_forelock_Native_setCancel(JNIEnv* env, jclass, jlong set) {
  return guarded(env, [&]() -> jboolean {
    std::int32_t was_waiting = 0;
    check(env, fl_set_cancel(handle(set), &was_waiting));
    return was_waiting != 0 ? JNI_TRUE : JNI_FALSE;
  });
}

JNIEXPORT jboolean JNICALL Java_org_forelock_Native_setSetPriority(JNIEnv* env, jclass, jlong set, jint priority) {
  return guarded(env, [&]() -> jboolean {
    std::int32_t changed = 0;
    check(env, fl_set_set_priority(handle(set), priority, &changed));
    return changed != 0 ? JNI_TRUE : JNI_FALSE;
  });
}

JNIEXPORT void JNICALL Java_org_forelock_Native_setInside(JNIEnv* env, jclass, jlong set, jlong outer) {
  guarded(env, [&] { check(env, fl_set_inside(handle(set), handle(outer))); });
}

JNIEXPORT void JNICALL Java_org_forelock_Native_setInsideSet(JNIEnv* env, jclass, jlong set, jlong outer) {
  guarded(env, [&] { check(env, fl_set_inside_set(handle(set), handle(outer))); });
}

JNIEXPORT void JNICALL Java_org_forelock_Native_setCancelAsync(JNIEnv* env, jclass, jlong set, jlong tag) {
  guarded(env, [&] { fl_set_cancel_async(handle(set), static_cast<std::uint64_t>(tag), nullptr); });
}

JNIEXPORT void JNICALL Java_org_forelock_Native_setRelease(JNIEnv* env, jclass, jlong set, jlong tag) {
  guarded(env, [&] { check(env, fl_set_release_async(handle(set), static_cast<std::uint64_t>(tag))); });
}

JNIEXPORT void JNICALL Java_org_forelock_Native_setReleaseAndWait(JNIEnv* env, jclass, jlong set) {
  guarded(env, [&] { check(env, fl_set_release(handle(set))); });
}

JNIEXPORT void JNICALL Java_org_forelock_Native_setReleaseDetached(JNIEnv* env, jclass, jlong set) {
  guarded(env, [&] { fl_set_release_detached(handle(set)); });
}

JNIEXPORT void JNICALL Java_org_forelock_Native_setStepAside(JNIEnv* env, jclass, jlong set, jlong timeout) {
  guarded(env, [&] { check(env, fl_set_step_aside(handle(set), timeout)); });
}

JNIEXPORT jboolean JNICALL Java_org_forelock_Native_setFree(JNIEnv* env, jclass, jlong set) {
  return guarded(env, [&]() -> jboolean { return fl_set_free(handle(set)) == FL_OK ? JNI_TRUE : JNI_FALSE; });
}

JNIEXPORT void JNICALL Java_org_forelock_Native_setWatch(JNIEnv* env, jclass, jlong set, jint events, jlong tag) {
  guarded(env, [&] {
    check(env, fl_set_watch(handle(set), static_cast<std::uint32_t>(events), static_cast<std::uint64_t>(tag)));
  });
}

JNIEXPORT void JNICALL Java_org_forelock_Native_setWatchDanger(JNIEnv* env, jclass, jlong set, jlong margin,
                                                               jlong tag) {
  guarded(env, [&] { check(env, fl_set_watch_danger(handle(set), margin, static_cast<std::uint64_t>(tag))); });
}

// Null: it waits in no queue.
JNIEXPORT jbyteArray JNICALL Java_org_forelock_Native_setWaitsFor(JNIEnv* env, jclass, jlong set) {
  return guarded(env, [&]() -> jbyteArray {
    const char* monitor = "";
    return fl_set_waits_for(handle(set), &monitor) == FL_OK ? to_java(env, monitor) : nullptr;
  });
}

JNIEXPORT void JNICALL Java_org_forelock_Native_setAlive(JNIEnv* env, jclass, jlong set, jlong expected) {
  guarded(env, [&] { check(env, fl_set_alive(handle(set), expected)); });
}

JNIEXPORT void JNICALL Java_org_forelock_Native_setWriteGuarded(JNIEnv* env, jclass, jlong set, jintArray kinds,
                                                                jobjectArray paths, jobjectArray data,
                                                                jintArray versions) {
  guarded(env, [&] { write_guarded(env, fl_set_write_guarded, handle(set), kinds, paths, data, versions); });
}

JNIEXPORT jboolean JNICALL Java_org_forelock_Native_setIsHealthy(JNIEnv* env, jclass, jlong set) {
  return guarded(env, [&]() -> jboolean { return fl_set_is_healthy(handle(set)) != 0 ? JNI_TRUE : JNI_FALSE; });
}

JNIEXPORT void JNICALL Java_org_forelock_Native_setCheckHealth(JNIEnv* env, jclass, jlong set) {
  guarded(env, [&] { check(env, fl_set_check_health(handle(set))); });
}

JNIEXPORT jlong JNICALL Java_org_forelock_Native_setExpiresAt(JNIEnv* env, jclass, jlong set) {
  return guarded(env, [&]() -> jlong { return fl_set_expires_at_ns(handle(set)); });
}

// -1 for a set that was closed.
JNIEXPORT jint JNICALL Java_org_forelock_Native_setState(JNIEnv* env, jclass, jlong set) {
  return guarded(env, [&]() -> jint {
    std::int32_t state = -1;
    fl_set_get_state(handle(set), &state);
    return state;
  });
}

JNIEXPORT jint JNICALL Java_org_forelock_Native_setSize(JNIEnv* env, jclass, jlong set) {
  return guarded(env, [&]() -> jint { return static_cast<jint>(fl_set_size(handle(set))); });
}

JNIEXPORT void JNICALL Java_org_forelock_Native_setMembers(JNIEnv* env, jclass, jlong set, jobjectArray texts) {
  guarded(env, [&] {
    const jsize count = env->GetArrayLength(texts);
    for (jsize i = 0; i < count; ++i) {
      const char* monitor = nullptr;
      if (!check(env, fl_set_member(handle(set), static_cast<std::size_t>(i), &monitor, nullptr))) return;
      store(env, texts, i, monitor);
    }
  });
}

JNIEXPORT void JNICALL Java_org_forelock_Native_setTokens(JNIEnv* env, jclass, jlong set, jlongArray tokens) {
  guarded(env, [&] {
    std::vector<jlong> values(static_cast<std::size_t>(env->GetArrayLength(tokens)));
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::int64_t token = 0;
      if (!check(env, fl_set_member(handle(set), i, nullptr, &token))) return;
      values[i] = token;
    }
    store(env, tokens, values.data(), static_cast<jsize>(values.size()));
  });
}
}
