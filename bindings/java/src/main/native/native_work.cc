// The native methods of org.forelock.Native for the inspector, operations and dead letters that are no plain calls.
#include <array>
#include <vector>

#include "forelock/operation.h"
#include "native_structures.h"

using namespace forelock::jni;

namespace {

// An operation with its payload.
class OperationGiven {
 public:
  OperationGiven(JNIEnv* env, jlongArray numbers, jobjectArray texts, jbyteArray payload)
      : spec_(env, numbers, texts),
        length_(payload == nullptr ? 0 : static_cast<std::size_t>(env->GetArrayLength(payload))),
        // One that is too long is refused by its length: there may be no memory for it.
        payload_(env, length_ <= forelock::Operation::max_payload_bytes ? payload : nullptr) {
    spec_.get()->payload = payload_.data();
    spec_.get()->payload_length = length_;
  }

  // Valid as long as this object lives.
  const fl_operation_spec* get() const { return spec_.get(); }

 private:
  OperationSpecGiven spec_;
  const std::size_t length_;
  const Text payload_;
};

}  // namespace

extern "C" {

// --- inspector ---

JNIEXPORT jbyteArray JNICALL Java_org_forelock_Native_inspectIdentity(JNIEnv* env, jclass, jlong client,
                                                                      jlong timeout) {
  return guarded(env, [&]() -> jbyteArray {
    char identity[FL_IDENTITY_SIZE] = {};
    check(env, fl_inspect_identity(static_cast<fl_client>(client), timeout, identity));
    return to_java(env, identity);
  });
}

JNIEXPORT void JNICALL Java_org_forelock_Native_viewSetMembers(JNIEnv* env, jclass, jlong view, jobjectArray texts,
                                                               jlongArray held) {
  guarded(env, [&] {
    const jsize count = env->GetArrayLength(texts);
    for (jsize i = 0; i < count; ++i) {
      const char* monitor = nullptr;
      std::int32_t is_held = 0;
      const auto index = static_cast<std::size_t>(i);
      if (!check(env, fl_view_set_member(static_cast<fl_view>(view), index, &monitor, &is_held))) return;
      store(env, texts, i, monitor);
      const jlong value = is_held;
      if (env->ExceptionCheck() == JNI_FALSE) env->SetLongArrayRegion(held, i, 1, &value);
    }
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
    check(env, fl_dlq_open(static_cast<fl_config>(config), &dlq));
#endif
    return static_cast<jlong>(dlq);
  });
}

// \returns the letter's id.
JNIEXPORT jbyteArray JNICALL Java_org_forelock_Native_dlqAccept(JNIEnv* env, jclass, jlong client, jlong dlq,
                                                                jlongArray spec, jobjectArray spec_texts,
                                                                jbyteArray payload, jlongArray attempt_times,
                                                                jobjectArray attempt_texts, jint max_attempts) {
  return guarded(env, [&]() -> jbyteArray {
    const OperationGiven given(env, spec, spec_texts, payload);
    const Numbers times(env, attempt_times);
    const Texts words(env, attempt_texts);
    std::vector<fl_failed_attempt> attempts;
    for (std::size_t i = 0; i < times.size(); i += 2) {
      attempts.push_back({.size = sizeof(fl_failed_attempt),
                          .at_ms = times[i],
                          .code = words[i].c_str(),
                          .message = words[i + 1].c_str(),
                          .waited_ms = times[i + 1]});
    }
    const char* id = nullptr;
    const bool taken =
        check(env, fl_dlq_accept(static_cast<fl_client>(client), static_cast<fl_dlq>(dlq), given.get(), attempts.data(),
                                 attempts.size(), static_cast<std::uint32_t>(max_attempts), &id));
    return taken ? to_java(env, id) : nullptr;
  });
}

// --- operations ---

// \returns the handle to cancel with.
JNIEXPORT jlong JNICALL Java_org_forelock_Native_runnerSubmit(JNIEnv* env, jclass, jlong runner, jlongArray spec,
                                                              jobjectArray spec_texts, jbyteArray payload, jlong tag) {
  return guarded(env, [&]() -> jlong {
    const OperationGiven given(env, spec, spec_texts, payload);
    fl_operation operation = 0;
    check(env,
          fl_runner_submit(static_cast<fl_runner>(runner), given.get(), static_cast<std::uint64_t>(tag), &operation));
    return static_cast<jlong>(operation);
  });
}

// --- replays ---

// \returns its payload.
JNIEXPORT jbyteArray JNICALL Java_org_forelock_Native_attemptLetter(JNIEnv* env, jclass, jlong attempt,
                                                                    jlongArray numbers, jobjectArray texts) {
  return guarded(env, [&]() -> jbyteArray {
    fl_letter letter{};
    letter.size = sizeof letter;
    if (!check(env, fl_attempt_letter(static_cast<fl_attempt>(attempt), &letter))) return nullptr;
    store(env, letter, numbers, texts);
    if (env->ExceptionCheck() != JNI_FALSE) return nullptr;
    const auto length = static_cast<jsize>(letter.payload_length);
    const jbyteArray payload = env->NewByteArray(length);
    if (payload != nullptr) env->SetByteArrayRegion(payload, 0, length, static_cast<const jbyte*>(letter.payload));
    return payload;
  });
}

JNIEXPORT void JNICALL Java_org_forelock_Native_attemptFailures(JNIEnv* env, jclass, jlong attempt, jlongArray times,
                                                                jobjectArray texts) {
  guarded(env, [&] {
    const jsize count = env->GetArrayLength(times) / 2;
    for (jsize i = 0; i < count; ++i) {
      fl_failed_attempt failed{};
      failed.size = sizeof failed;
      const auto index = static_cast<std::size_t>(i);
      if (!check(env, fl_attempt_failure(static_cast<fl_attempt>(attempt), index, &failed))) return;
      env->SetLongArrayRegion(times, 2 * i, 2, numbers_of(failed).data());
      store(env, texts, 2 * i, failed.code);
      store(env, texts, 2 * i + 1, failed.message);
      if (env->ExceptionCheck() != JNI_FALSE) return;
    }
  });
}
}
