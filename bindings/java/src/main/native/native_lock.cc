// The native methods of org.forelock.Native for settings, clients and locks.
#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

#include "jni_support.h"

using namespace forelock::jni;

namespace {

constexpr jsize numbers_of_event = 6;
constexpr jsize texts_of_event = 4;
constexpr std::size_t max_events = 256;

jlong number(fl_handle handle) {
  return static_cast<jlong>(handle);
}
fl_handle handle(jlong number) {
  return static_cast<fl_handle>(number);
}

}  // namespace

extern "C" {

JNIEXPORT jint JNICALL Java_org_forelock_Native_checkAbi(JNIEnv* env, jclass) {
  return guarded(env, [&]() -> jint { return fl_check_abi(FL_ABI_VERSION); });
}

JNIEXPORT jbyteArray JNICALL Java_org_forelock_Native_version(JNIEnv* env, jclass) {
  return guarded(env, [&]() -> jbyteArray { return to_java(env, fl_version()); });
}

// --- settings ---

JNIEXPORT jlong JNICALL Java_org_forelock_Native_configLoad(JNIEnv* env, jclass, jbyteArray path) {
  return guarded(env, [&]() -> jlong {
    fl_config config = 0;
    check(env, fl_config_load(Text(env, path).c_str(), &config));
    return number(config);
  });
}

JNIEXPORT jlong JNICALL Java_org_forelock_Native_configParse(JNIEnv* env, jclass, jbyteArray text, jbyteArray name) {
  return guarded(env, [&]() -> jlong {
    fl_config config = 0;
    const Text content(env, text);
    check(env, fl_config_parse(content.c_str(), content.size(), Text(env, name).c_str(), &config));
    return number(config);
  });
}

JNIEXPORT jbyteArray JNICALL Java_org_forelock_Native_configGet(JNIEnv* env, jclass, jlong config, jbyteArray key) {
  return guarded(env, [&]() -> jbyteArray {
    const char* value = "";
    check(env, fl_config_get(handle(config), Text(env, key).c_str(), &value));
    return env->ExceptionCheck() == JNI_FALSE ? to_java(env, value) : nullptr;
  });
}

JNIEXPORT void JNICALL Java_org_forelock_Native_configSet(JNIEnv* env, jclass, jlong config, jobjectArray keys,
                                                          jobjectArray values) {
  guarded(env, [&] {
    std::vector<Text> texts;
    const jsize count = env->GetArrayLength(keys);
    for (jobjectArray array : {keys, values}) {
      for (jsize i = 0; i < count; ++i) {
        auto bytes = static_cast<jbyteArray>(env->GetObjectArrayElement(array, i));
        texts.emplace_back(env, bytes);
        env->DeleteLocalRef(bytes);
      }
    }
    std::vector<const char*> all;
    for (const Text& text : texts) all.push_back(text.c_str());
    check(env, fl_config_set_all(handle(config), all.data(), all.data() + count, static_cast<std::size_t>(count)));
  });
}

JNIEXPORT void JNICALL Java_org_forelock_Native_configFree(JNIEnv* env, jclass, jlong config) {
  guarded(env, [&] { fl_config_free(handle(config)); });
}

// --- client ---

JNIEXPORT jlong JNICALL Java_org_forelock_Native_clientOpen(JNIEnv* env, jclass, jlong config, jboolean debug) {
  return guarded(env, [&]() -> jlong {
    fl_client client = 0;
    const std::uint32_t flags = FL_CLIENT_LOG_EVENTS | (debug != JNI_FALSE ? FL_CLIENT_LOG_DEBUG : 0);
    check(env, fl_client_open(handle(config), flags, &client));
    return number(client);
  });
}

JNIEXPORT void JNICALL Java_org_forelock_Native_clientWaitConnected(JNIEnv* env, jclass, jlong client, jlong timeout) {
  guarded(env, [&] { check(env, fl_client_wait_connected(handle(client), timeout)); });
}

JNIEXPORT void JNICALL Java_org_forelock_Native_clientStatus(JNIEnv* env, jclass, jlong client, jlongArray numbers,
                                                             jobjectArray texts) {
  guarded(env, [&] {
    fl_client_status status{};
    status.size = sizeof status;
    if (!check(env, fl_client_get_status(handle(client), &status))) return;
    const std::array<jlong, 13> values{status.connected,
                                       status.session_id,
                                       status.session_timeout_ms,
                                       static_cast<jlong>(status.granted),
                                       static_cast<jlong>(status.refused),
                                       static_cast<jlong>(status.lost),
                                       static_cast<jlong>(status.released),
                                       static_cast<jlong>(status.requests),
                                       static_cast<jlong>(status.sessions_expired),
                                       static_cast<jlong>(status.disconnections),
                                       static_cast<jlong>(status.contenders),
                                       static_cast<jlong>(status.taken_again),
                                       static_cast<jlong>(status.lingering)};
    store(env, numbers, values.data(), values.size());
    store(env, texts, 0, status.instance);
    store(env, texts, 1, status.last_problem);
  });
}

JNIEXPORT void JNICALL Java_org_forelock_Native_clientTimes(JNIEnv* env, jclass, jlong client, jint priority,
                                                            jlongArray numbers) {
  guarded(env, [&] {
    fl_times times{};
    times.size = sizeof times;
    if (!check(env, fl_client_get_times(handle(client), priority, &times))) return;
    std::array<jlong, 2 + 2 * FL_TIMES_BUCKETS> values{times.wait_sum_ns, times.hold_sum_ns};
    const auto holds = std::copy(std::begin(times.waits), std::end(times.waits), values.begin() + 2);
    std::copy(std::begin(times.holds), std::end(times.holds), holds);
    store(env, numbers, values.data(), values.size());
  });
}

JNIEXPORT void JNICALL Java_org_forelock_Native_clientClose(JNIEnv* env, jclass, jlong client) {
  guarded(env, [&] { check(env, fl_client_close(handle(client))); });
}

JNIEXPORT void JNICALL Java_org_forelock_Native_clientFree(JNIEnv* env, jclass, jlong client) {
  guarded(env, [&] { fl_client_free(handle(client)); });
}

JNIEXPORT jint JNICALL Java_org_forelock_Native_poll(JNIEnv* env, jclass, jlong client, jlong timeout,
                                                     jlongArray numbers, jobjectArray texts) {
  return guarded(env, [&]() -> jint {
    std::array<fl_event, max_events> events;
    const jsize room = env->GetArrayLength(numbers) / numbers_of_event;
    const auto count = fl_poll(handle(client), timeout, events.data(), static_cast<std::size_t>(room));
    if (count < 0) return static_cast<jint>(count);
    for (jsize i = 0; i < static_cast<jsize>(count); ++i) {
      const fl_event& event = events[static_cast<std::size_t>(i)];
      const std::array<jlong, numbers_of_event> values{
          event.kind, event.code, number(event.source), static_cast<jlong>(event.tag), event.value, event.retryable};
      env->SetLongArrayRegion(numbers, i * numbers_of_event, numbers_of_event, values.data());
      // It will not come again: it arrives without its texts rather than not at all.
      store_if_possible(env, texts, i * texts_of_event, event.monitor);
      store_if_possible(env, texts, i * texts_of_event + 1, event.name);
      store_if_possible(env, texts, i * texts_of_event + 2, event.message);
      store_if_possible(env, texts, i * texts_of_event + 3, event.hint);
    }
    return static_cast<jint>(count);
  });
}

// --- locks ---

JNIEXPORT jlong JNICALL Java_org_forelock_Native_lockNew(JNIEnv* env, jclass, jlong client, jbyteArray info,
                                                         jbyteArray monitor, jint priority, jlong expected,
                                                         jlong auto_unlock, jlong flags, jlong queue_max,
                                                         jbyteArray thread) {
  return guarded(env, [&]() -> jlong {
    fl_lock lock = 0;
    const Text name(env, thread);
    const fl_lock_options options = lock_options(expected, auto_unlock, flags, queue_max, name);
    check(env,
          fl_lock_new(handle(client), Text(env, info).c_str(), Text(env, monitor).c_str(), priority, &options, &lock));
    return number(lock);
  });
}

JNIEXPORT jboolean JNICALL Java_org_forelock_Native_lockAcquireWithin(JNIEnv* env, jclass, jlong lock, jlong timeout,
                                                                      jboolean try_once, jlong block, jlong tag,
                                                                      jbyteArray stack) {
  return guarded(env, [&]() -> jboolean {
    const auto number = static_cast<std::uint64_t>(tag);
    std::int32_t pending = 0;
    if (stack != nullptr && !check(env, fl_lock_set_stack(handle(lock), Text(env, stack).c_str()))) return JNI_FALSE;
    check(env, try_once != JNI_FALSE ? fl_lock_try_within(handle(lock), block, number, &pending)
                                     : fl_lock_acquire_within(handle(lock), timeout, block, number, &pending));
    return pending != 0 ? JNI_TRUE : JNI_FALSE;
  });
}

JNIEXPORT jboolean JNICALL Java_org_forelock_Native_lockCancel(JNIEnv* env, jclass, jlong lock) {
  return guarded(env, [&]() -> jboolean {
    std::int32_t was_waiting = 0;
    check(env, fl_lock_cancel(handle(lock), &was_waiting));
    return was_waiting != 0 ? JNI_TRUE : JNI_FALSE;
  });
}

JNIEXPORT jboolean JNICALL Java_org_forelock_Native_lockSetPriority(JNIEnv* env, jclass, jlong lock, jint priority) {
  return guarded(env, [&]() -> jboolean {
    std::int32_t changed = 0;
    check(env, fl_lock_set_priority(handle(lock), priority, &changed));
    return changed != 0 ? JNI_TRUE : JNI_FALSE;
  });
}

JNIEXPORT void JNICALL Java_org_forelock_Native_lockInside(JNIEnv* env, jclass, jlong lock, jlong outer) {
  guarded(env, [&] { check(env, fl_lock_inside(handle(lock), handle(outer))); });
}

JNIEXPORT void JNICALL Java_org_forelock_Native_lockInsideSet(JNIEnv* env, jclass, jlong lock, jlong outer) {
  guarded(env, [&] { check(env, fl_lock_inside_set(handle(lock), handle(outer))); });
}

JNIEXPORT void JNICALL Java_org_forelock_Native_lockCancelAsync(JNIEnv* env, jclass, jlong lock, jlong tag) {
  guarded(env, [&] { fl_lock_cancel_async(handle(lock), static_cast<std::uint64_t>(tag), nullptr); });
}

JNIEXPORT void JNICALL Java_org_forelock_Native_lockRelease(JNIEnv* env, jclass, jlong lock, jlong tag) {
  guarded(env, [&] { check(env, fl_lock_release_async(handle(lock), static_cast<std::uint64_t>(tag))); });
}

JNIEXPORT void JNICALL Java_org_forelock_Native_lockReleaseAndWait(JNIEnv* env, jclass, jlong lock) {
  guarded(env, [&] { check(env, fl_lock_release(handle(lock))); });
}

JNIEXPORT void JNICALL Java_org_forelock_Native_lockReleaseDetached(JNIEnv* env, jclass, jlong lock) {
  guarded(env, [&] { fl_lock_release_detached(handle(lock)); });
}

JNIEXPORT void JNICALL Java_org_forelock_Native_lockStepAside(JNIEnv* env, jclass, jlong lock, jlong timeout) {
  guarded(env, [&] { check(env, fl_lock_step_aside(handle(lock), timeout)); });
}

JNIEXPORT jboolean JNICALL Java_org_forelock_Native_lockFree(JNIEnv* env, jclass, jlong lock) {
  return guarded(env, [&]() -> jboolean { return fl_lock_free(handle(lock)) == FL_OK ? JNI_TRUE : JNI_FALSE; });
}

JNIEXPORT void JNICALL Java_org_forelock_Native_lockWatch(JNIEnv* env, jclass, jlong lock, jint events, jlong margin,
                                                          jlong tag) {
  guarded(env, [&] {
    check(env,
          fl_lock_watch(handle(lock), static_cast<std::uint32_t>(events), margin, static_cast<std::uint64_t>(tag)));
  });
}

JNIEXPORT jboolean JNICALL Java_org_forelock_Native_lockIsHealthy(JNIEnv* env, jclass, jlong lock) {
  return guarded(env, [&]() -> jboolean { return fl_lock_is_healthy(handle(lock)) != 0 ? JNI_TRUE : JNI_FALSE; });
}

JNIEXPORT void JNICALL Java_org_forelock_Native_lockCheckHealth(JNIEnv* env, jclass, jlong lock) {
  guarded(env, [&] { check(env, fl_lock_check_health(handle(lock))); });
}

JNIEXPORT jlong JNICALL Java_org_forelock_Native_lockToken(JNIEnv* env, jclass, jlong lock) {
  return guarded(env, [&]() -> jlong { return fl_lock_token(handle(lock)); });
}

JNIEXPORT jlong JNICALL Java_org_forelock_Native_lockExpiresAt(JNIEnv* env, jclass, jlong lock) {
  return guarded(env, [&]() -> jlong { return fl_lock_expires_at_ns(handle(lock)); });
}

JNIEXPORT jlong JNICALL Java_org_forelock_Native_lockTimeLeft(JNIEnv* env, jclass, jlong lock) {
  return guarded(env, [&]() -> jlong { return fl_lock_time_left_ns(handle(lock)); });
}

// -1 for a lock that was closed.
JNIEXPORT jint JNICALL Java_org_forelock_Native_lockState(JNIEnv* env, jclass, jlong lock) {
  return guarded(env, [&]() -> jint {
    std::int32_t state = -1;
    fl_lock_get_state(handle(lock), &state);
    return state;
  });
}

JNIEXPORT void JNICALL Java_org_forelock_Native_lockAlive(JNIEnv* env, jclass, jlong lock, jlong expected) {
  guarded(env, [&] { check(env, fl_lock_alive(handle(lock), expected)); });
}

JNIEXPORT void JNICALL Java_org_forelock_Native_lockWriteGuarded(JNIEnv* env, jclass, jlong lock, jintArray kinds,
                                                                 jobjectArray paths, jobjectArray data,
                                                                 jintArray versions) {
  guarded(env, [&] { write_guarded(env, fl_lock_write_guarded, handle(lock), kinds, paths, data, versions); });
}
}
