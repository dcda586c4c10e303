// The native methods of org.forelock.Native for owner records, the inspector, and operations with dead letters.
#include <array>
#include <vector>

#include "forelock/operation.h"
#include "jni_support.h"

using namespace forelock::jni;

namespace {

constexpr jsize numbers_of_owner = 7;
constexpr jsize texts_of_owner = 4;

jlong number(fl_handle handle) {
  return static_cast<jlong>(handle);
}
fl_handle handle(jlong number) {
  return static_cast<fl_handle>(number);
}

// At the beginning of both arrays.
void store_owner(JNIEnv* env, const fl_owner& owner, std::int64_t linger_ms, jlongArray numbers, jobjectArray texts) {
  const std::array<jlong, numbers_of_owner> values{owner.priority,
                                                   owner.enqueued_at_ms,
                                                   owner.acquired_at_ms,
                                                   owner.expected_runtime_ms,
                                                   owner.alert_at_ms,
                                                   owner.auto_unlock_at_ms,
                                                   linger_ms};
  store(env, numbers, values.data(), numbers_of_owner);
  store(env, texts, 0, owner.lock_info);
  store(env, texts, 1, owner.instance);
  store(env, texts, 2, owner.guid);
  store(env, texts, 3, owner.stack);
}

template <std::size_t count>
void store_after_owner(JNIEnv* env, jlongArray numbers, const std::array<jlong, count>& values) {
  if (env->ExceptionCheck() != JNI_FALSE) return;
  env->SetLongArrayRegion(numbers, numbers_of_owner, static_cast<jsize>(count), values.data());
}

Text text_at(JNIEnv* env, jobjectArray texts, jsize index) {
  const auto bytes = static_cast<jbyteArray>(env->GetObjectArrayElement(texts, index));
  Text text(env, bytes);
  env->DeleteLocalRef(bytes);
  return text;
}

// An operation as Operation.texts() and its payload say it.
class OperationTexts {
 public:
  OperationTexts(JNIEnv* env, jobjectArray texts, jbyteArray payload)
      : id_(text_at(env, texts, 0)),
        type_(text_at(env, texts, 1)),
        monitor_(text_at(env, texts, 2)),
        info_(text_at(env, texts, 3)),
        trace_(text_at(env, texts, 4)),
        payload_length_(payload == nullptr ? 0 : static_cast<std::size_t>(env->GetArrayLength(payload))),
        // One that is too long is refused by its length: there may be no memory for it.
        payload_(env, payload_length_ <= forelock::Operation::max_payload_bytes ? payload : nullptr) {}

  // Valid as long as this object lives.
  fl_operation_spec spec(jint priority) const {
    fl_operation_spec spec{};
    spec.size = sizeof spec;
    spec.id = id_.c_str();
    spec.type = type_.c_str();
    spec.monitor = monitor_.c_str();
    spec.priority = priority;
    spec.payload = payload_.data();
    spec.payload_length = payload_length_;
    spec.lock_info = info_.c_str();
    spec.traceparent = trace_.c_str();
    return spec;
  }

 private:
  const Text id_, type_, monitor_, info_, trace_;
  const std::size_t payload_length_;
  const Text payload_;
};

}  // namespace

extern "C" {

JNIEXPORT void JNICALL Java_org_forelock_Native_lockOwner(JNIEnv* env, jclass, jlong lock, jlongArray numbers,
                                                          jobjectArray texts) {
  guarded(env, [&] {
    fl_owner owner;
    std::int64_t linger_ms = -1;
    if (!check(env, fl_lock_owner(handle(lock), &owner))) return;
    if (check(env, fl_lock_get_linger(handle(lock), &linger_ms))) store_owner(env, owner, linger_ms, numbers, texts);
  });
}

// --- inspector ---

JNIEXPORT jlong JNICALL Java_org_forelock_Native_inspectList(JNIEnv* env, jclass, jlong client, jboolean all,
                                                             jlong timeout) {
  return guarded(env, [&]() -> jlong {
    fl_view view = 0;
    check(env, fl_inspect_list(handle(client), all != JNI_FALSE ? 1 : 0, timeout, &view));
    return number(view);
  });
}

JNIEXPORT jlong JNICALL Java_org_forelock_Native_inspectShow(JNIEnv* env, jclass, jlong client, jbyteArray monitor,
                                                             jlong timeout) {
  return guarded(env, [&]() -> jlong {
    fl_view view = 0;
    check(env, fl_inspect_show(handle(client), Text(env, monitor).c_str(), timeout, &view));
    return number(view);
  });
}

JNIEXPORT jbyteArray JNICALL Java_org_forelock_Native_inspectIdentity(JNIEnv* env, jclass, jlong client,
                                                                      jlong timeout) {
  return guarded(env, [&]() -> jbyteArray {
    char identity[FL_IDENTITY_SIZE] = {};
    check(env, fl_inspect_identity(handle(client), timeout, identity));
    return to_java(env, identity);
  });
}

JNIEXPORT jlong JNICALL Java_org_forelock_Native_inspectHolder(JNIEnv* env, jclass, jlong client, jbyteArray monitor,
                                                               jlong timeout) {
  return guarded(env, [&]() -> jlong {
    fl_view view = 0;
    check(env, fl_inspect_holder(handle(client), Text(env, monitor).c_str(), timeout, &view));
    return number(view);
  });
}

JNIEXPORT jint JNICALL Java_org_forelock_Native_viewCount(JNIEnv* env, jclass, jlong view) {
  return guarded(env, [&]() -> jint {
    std::size_t count = 0;
    check(env, fl_view_count(handle(view), &count));
    return static_cast<jint>(count);
  });
}

JNIEXPORT void JNICALL Java_org_forelock_Native_viewMonitor(JNIEnv* env, jclass, jlong view, jint index,
                                                            jlongArray numbers, jobjectArray texts) {
  guarded(env, [&] {
    fl_monitor monitor{};
    monitor.size = sizeof monitor;
    if (!check(env, fl_view_monitor(handle(view), static_cast<std::size_t>(index), &monitor))) return;
    store_owner(env, monitor.owner, monitor.linger_ms, numbers, texts);
    store_after_owner<10>(
        env, numbers,
        {monitor.held, monitor.has_owner, monitor.holder_priority, monitor.holder_session, monitor.holder_token,
         monitor.held_ms, static_cast<jlong>(monitor.waiting), static_cast<jlong>(monitor.waiting_foreground),
         static_cast<jlong>(monitor.waiting_background), monitor.oldest_wait_ms});
    store(env, texts, texts_of_owner, monitor.monitor);
    store(env, texts, texts_of_owner + 1, monitor.path);
    store(env, texts, texts_of_owner + 2, monitor.holder_node);
  });
}

JNIEXPORT void JNICALL Java_org_forelock_Native_viewWaiter(JNIEnv* env, jclass, jlong view, jint index,
                                                           jlongArray numbers, jobjectArray texts) {
  guarded(env, [&] {
    fl_waiter waiter{};
    waiter.size = sizeof waiter;
    if (!check(env, fl_view_waiter(handle(view), static_cast<std::size_t>(index), &waiter))) return;
    store_owner(env, waiter.owner, waiter.linger_ms, numbers, texts);
    store_after_owner<5>(
        env, numbers,
        {static_cast<jlong>(waiter.position), waiter.has_owner, waiter.priority, waiter.session, waiter.waited_ms});
    store(env, texts, texts_of_owner, waiter.node);
    store(env, texts, texts_of_owner + 1, waiter.behind);
  });
}

JNIEXPORT jlong JNICALL Java_org_forelock_Native_inspectSet(JNIEnv* env, jclass, jlong client, jlong view, jlong waiter,
                                                            jlong timeout) {
  return guarded(env, [&]() -> jlong {
    fl_view set = 0;
    check(env, fl_inspect_set(handle(client), handle(view), waiter, timeout, &set));
    return number(set);
  });
}

JNIEXPORT void JNICALL Java_org_forelock_Native_viewSet(JNIEnv* env, jclass, jlong view, jlongArray numbers,
                                                        jobjectArray texts) {
  guarded(env, [&] {
    fl_seen_set set{};
    set.size = sizeof set;
    if (!check(env, fl_view_set(handle(view), &set))) return;
    store_owner(env, set.owner, set.linger_ms, numbers, texts);
    store_after_owner<9>(
        env, numbers,
        {static_cast<jlong>(set.members), static_cast<jlong>(set.named), static_cast<jlong>(set.held),
         set.behind_holder, set.has_owner, set.holder_priority, set.holder_session, set.holder_token, set.held_ms});
    store(env, texts, texts_of_owner, set.id);
    store(env, texts, texts_of_owner + 1, set.waits_for);
    store(env, texts, texts_of_owner + 2, set.holder_node);
  });
}

JNIEXPORT void JNICALL Java_org_forelock_Native_viewSetMembers(JNIEnv* env, jclass, jlong view, jobjectArray texts,
                                                               jlongArray held) {
  guarded(env, [&] {
    const jsize count = env->GetArrayLength(texts);
    for (jsize i = 0; i < count; ++i) {
      const char* monitor = nullptr;
      std::int32_t is_held = 0;
      if (!check(env, fl_view_set_member(handle(view), static_cast<std::size_t>(i), &monitor, &is_held))) return;
      store(env, texts, i, monitor);
      const jlong value = is_held;
      if (env->ExceptionCheck() == JNI_FALSE) env->SetLongArrayRegion(held, i, 1, &value);
    }
  });
}

JNIEXPORT void JNICALL Java_org_forelock_Native_viewFree(JNIEnv* env, jclass, jlong view) {
  guarded(env, [&] { fl_view_free(handle(view)); });
}

JNIEXPORT jint JNICALL Java_org_forelock_Native_forceRelease(JNIEnv* env, jclass, jlong client, jbyteArray monitor,
                                                             jbyteArray holder, jlong timeout) {
  return guarded(env, [&]() -> jint {
    std::int32_t result = 0;
    check(env, fl_inspect_force_release(handle(client), Text(env, monitor).c_str(), Text(env, holder).c_str(), timeout,
                                        &result));
    return result;
  });
}

// --- dead letters ---

JNIEXPORT jboolean JNICALL Java_org_forelock_Native_hasDeadLetters(JNIEnv* env, jclass) {
  return guarded(env, [&]() -> jboolean {
#ifdef FORELOCK_JNI_DLQ
    return JNI_TRUE;
#else
  return JNI_FALSE;
#endif
  });
}

JNIEXPORT jlong JNICALL Java_org_forelock_Native_dlqOpen(JNIEnv* env, jclass, [[maybe_unused]] jlong config) {
  return guarded(env, [&]() -> jlong {
    fl_dlq dlq = 0;
#ifdef FORELOCK_JNI_DLQ
    check(env, fl_dlq_open(handle(config), &dlq));
#endif
    return number(dlq);
  });
}

// \returns the letter's id.
JNIEXPORT jbyteArray JNICALL Java_org_forelock_Native_dlqAccept(JNIEnv* env, jclass, jlong client, jlong dlq,
                                                                jobjectArray texts, jbyteArray payload, jint priority,
                                                                jobjectArray attempt_texts, jlongArray attempt_times,
                                                                jint max_attempts) {
  return guarded(env, [&]() -> jbyteArray {
    const OperationTexts given(env, texts, payload);
    const auto count = static_cast<std::size_t>(env->GetArrayLength(attempt_times)) / 2;
    std::vector<jlong> times(2 * count);
    env->GetLongArrayRegion(attempt_times, 0, static_cast<jsize>(times.size()), times.data());
    std::vector<Text> words;
    words.reserve(2 * count);
    for (std::size_t i = 0; i < 2 * count; ++i) words.push_back(text_at(env, attempt_texts, static_cast<jsize>(i)));
    std::vector<fl_failed_attempt> attempts;
    for (std::size_t i = 0; i < 2 * count; i += 2) {
      attempts.push_back({.size = sizeof(fl_failed_attempt),
                          .at_ms = times[i],
                          .code = words[i].c_str(),
                          .message = words[i + 1].c_str(),
                          .waited_ms = times[i + 1]});
    }
    const fl_operation_spec spec = given.spec(priority);
    const char* id = nullptr;
    const bool taken = check(env, fl_dlq_accept(handle(client), handle(dlq), &spec, attempts.data(), count,
                                                static_cast<std::uint32_t>(max_attempts), &id));
    return taken ? to_java(env, id) : nullptr;
  });
}

JNIEXPORT jboolean JNICALL Java_org_forelock_Native_dlqFlush(JNIEnv* env, jclass, jlong dlq, jlong timeout) {
  return guarded(env, [&]() -> jboolean {
    std::int32_t done = 0;
    check(env, fl_dlq_flush(handle(dlq), timeout, &done));
    return done != 0 ? JNI_TRUE : JNI_FALSE;
  });
}

JNIEXPORT jbyteArray JNICALL Java_org_forelock_Native_dlqStatus(JNIEnv* env, jclass, jlong dlq, jlongArray numbers) {
  return guarded(env, [&]() -> jbyteArray {
    fl_dlq_status status{};
    status.size = sizeof status;
    if (!check(env, fl_dlq_get_status(handle(dlq), &status))) return nullptr;
    const std::array<jlong, 7> values{static_cast<jlong>(status.outbox_rows),
                                      static_cast<jlong>(status.outbox_bytes),
                                      status.oldest_age_ms,
                                      static_cast<jlong>(status.accepted),
                                      static_cast<jlong>(status.delivered),
                                      static_cast<jlong>(status.delivery_failures),
                                      status.forwarding};
    store(env, numbers, values.data(), values.size());
    return env->ExceptionCheck() == JNI_FALSE ? to_java(env, status.last_problem) : nullptr;
  });
}

JNIEXPORT void JNICALL Java_org_forelock_Native_dlqFree(JNIEnv* env, jclass, jlong dlq) {
  guarded(env, [&] { fl_dlq_free(handle(dlq)); });
}

// --- operations ---

JNIEXPORT jlong JNICALL Java_org_forelock_Native_runnerNew(JNIEnv* env, jclass, jlong client, jlong dlq, jlong initial,
                                                           jlong cap, jlong most, jlong burst, jdouble per_second) {
  return guarded(env, [&]() -> jlong {
    fl_runner runner = 0;
    fl_runner_options options{};
    options.size = sizeof options;
    options.backoff_initial_ms = initial;
    options.backoff_cap_ms = cap;
    options.max_operations = static_cast<std::uint64_t>(most);
    options.retry_burst = static_cast<std::uint64_t>(burst);
    options.retries_per_second = per_second;
    check(env, fl_runner_new(handle(client), handle(dlq), &options, &runner));
    return number(runner);
  });
}

// \returns the handle to cancel with.
JNIEXPORT jlong JNICALL Java_org_forelock_Native_runnerSubmit(JNIEnv* env, jclass, jlong runner, jobjectArray texts,
                                                              jbyteArray payload, jint priority, jlong timeout,
                                                              jlong tag) {
  return guarded(env, [&]() -> jlong {
    const OperationTexts given(env, texts, payload);
    fl_operation_spec spec = given.spec(priority);
    spec.timeout_ms = timeout;
    fl_operation operation = 0;
    check(env, fl_runner_submit(handle(runner), &spec, static_cast<std::uint64_t>(tag), &operation));
    return number(operation);
  });
}

JNIEXPORT void JNICALL Java_org_forelock_Native_operationCancel(JNIEnv* env, jclass, jlong operation) {
  guarded(env, [&] { fl_operation_cancel(handle(operation)); });
}

JNIEXPORT void JNICALL Java_org_forelock_Native_operationFree(JNIEnv* env, jclass, jlong operation) {
  guarded(env, [&] { fl_operation_free(handle(operation)); });
}

JNIEXPORT jboolean JNICALL Java_org_forelock_Native_attemptSucceed(JNIEnv* env, jclass, jlong attempt) {
  return guarded(env,
                 [&]() -> jboolean { return fl_attempt_succeed(handle(attempt)) == FL_OK ? JNI_TRUE : JNI_FALSE; });
}

JNIEXPORT jboolean JNICALL Java_org_forelock_Native_attemptFail(JNIEnv* env, jclass, jlong attempt, jbyteArray code,
                                                                jbyteArray message, jboolean retryable) {
  return guarded(env, [&]() -> jboolean {
    const auto ended = fl_attempt_fail(handle(attempt), Text(env, code).c_str(), Text(env, message).c_str(),
                                       retryable != JNI_FALSE ? 1 : 0);
    return ended == FL_OK ? JNI_TRUE : JNI_FALSE;
  });
}

JNIEXPORT void JNICALL Java_org_forelock_Native_runnerFree(JNIEnv* env, jclass, jlong runner) {
  guarded(env, [&] { fl_runner_free(handle(runner)); });
}
}
