// The native methods of org.forelock.Native for replays of dead letters.
#include <array>
#include <vector>

#include "jni_support.h"

using namespace forelock::jni;

namespace {

// The same as in native_work.cc.
jlong number_of(fl_handle handle) {
  return static_cast<jlong>(handle);
}
fl_handle handle_of(jlong number) {
  return static_cast<fl_handle>(number);
}

// The values of one condition, as an array of C. Null, or none: any.
class Values {
 public:
  Values(JNIEnv* env, jobjectArray all, jsize index) {
    const auto values = static_cast<jobjectArray>(env->GetObjectArrayElement(all, index));
    const jsize count = values == nullptr ? 0 : env->GetArrayLength(values);
    texts_.reserve(static_cast<std::size_t>(count));
    for (jsize i = 0; i < count; ++i) {
      const auto bytes = static_cast<jbyteArray>(env->GetObjectArrayElement(values, i));
      texts_.emplace_back(env, bytes);
      env->DeleteLocalRef(bytes);
    }
    for (const Text& text : texts_) pointers_.push_back(text.c_str());
    env->DeleteLocalRef(values);
  }

  const char* const* data() const { return pointers_.empty() ? nullptr : pointers_.data(); }
  std::size_t size() const { return pointers_.size(); }

 private:
  std::vector<Text> texts_;
  std::vector<const char*> pointers_;
};

class Options {
 public:
  Options(JNIEnv* env, jobjectArray texts, jlongArray numbers, jdouble rate)
      : ids_(env, texts, 0), monitors_(env, texts, 1), types_(env, texts, 2), reasons_(env, texts, 3) {
    std::array<jlong, 9> given{};
    env->GetLongArrayRegion(numbers, 0, static_cast<jsize>(given.size()), given.data());
    options_.size = sizeof options_;
    options_.ids = ids_.data();
    options_.id_count = ids_.size();
    options_.monitors = monitors_.data();
    options_.monitor_count = monitors_.size();
    options_.types = types_.data();
    options_.type_count = types_.size();
    options_.reasons = reasons_.data();
    options_.reason_count = reasons_.size();
    options_.since_ms = given[0];
    options_.until_ms = given[1];
    options_.parked = static_cast<std::int32_t>(given[2]);
    options_.outbox = static_cast<std::int32_t>(given[3]);
    options_.max = static_cast<std::uint64_t>(given[4]);
    options_.rate = rate;
    options_.concurrency = static_cast<std::uint64_t>(given[5]);
    options_.lock_timeout_ms = given[6];
    options_.max_tries = static_cast<std::uint32_t>(given[7]);
    options_.max_unresolved = static_cast<std::uint64_t>(given[8]);
  }

  // Valid as long as this object lives.
  const fl_replay_options* get() const { return &options_; }

 private:
  const Values ids_, monitors_, types_, reasons_;
  fl_replay_options options_{};
};

}  // namespace

extern "C" {

JNIEXPORT jlong JNICALL Java_org_forelock_Native_dlqReplay(JNIEnv* env, jclass, jlong client, jlong dlq,
                                                           jobjectArray texts, jlongArray numbers, jdouble rate,
                                                           jlong tag) {
  return guarded(env, [&]() -> jlong {
    const Options options(env, texts, numbers, rate);
    fl_replay replay = 0;
    check(env,
          fl_dlq_replay(handle_of(client), handle_of(dlq), options.get(), static_cast<std::uint64_t>(tag), &replay));
    return number_of(replay);
  });
}

JNIEXPORT void JNICALL Java_org_forelock_Native_dlqPreviewReplay(JNIEnv* env, jclass, jlong dlq, jobjectArray texts,
                                                                 jlongArray numbers, jdouble rate, jlongArray result) {
  guarded(env, [&] {
    const Options options(env, texts, numbers, rate);
    fl_replay_preview preview{};
    preview.size = sizeof preview;
    if (!check(env, fl_dlq_preview_replay(handle_of(dlq), options.get(), &preview))) return;
    const std::array<jlong, 4> values{static_cast<jlong>(preview.letters), static_cast<jlong>(preview.unreadable),
                                      static_cast<jlong>(preview.overtaken), preview.oldest_ms};
    store(env, result, values.data(), values.size());
  });
}

// \returns its payload.
JNIEXPORT jbyteArray JNICALL Java_org_forelock_Native_attemptLetter(JNIEnv* env, jclass, jlong attempt,
                                                                    jlongArray numbers, jobjectArray texts) {
  return guarded(env, [&]() -> jbyteArray {
    fl_letter letter{};
    letter.size = sizeof letter;
    if (!check(env, fl_attempt_letter(handle_of(attempt), &letter))) return nullptr;
    const std::array<jlong, 7> values{
        letter.priority,     letter.tries,        static_cast<jlong>(letter.failure_count),
        letter.max_attempts, letter.replay_count, letter.enqueued_at_ms,
        letter.failed_at_ms};
    store(env, numbers, values.data(), values.size());
    const std::array<const char*, 7> words{letter.id,     letter.type,     letter.monitor,    letter.lock_info,
                                           letter.reason, letter.instance, letter.traceparent};
    for (std::size_t i = 0; i < words.size(); ++i) store(env, texts, static_cast<jsize>(i), words[i]);
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
      if (!check(env, fl_attempt_failure(handle_of(attempt), static_cast<std::size_t>(i), &failed))) return;
      const std::array<jlong, 2> values{failed.at_ms, failed.waited_ms};
      env->SetLongArrayRegion(times, 2 * i, 2, values.data());
      store(env, texts, 2 * i, failed.code);
      store(env, texts, 2 * i + 1, failed.message);
      if (env->ExceptionCheck() != JNI_FALSE) return;
    }
  });
}

JNIEXPORT jboolean JNICALL Java_org_forelock_Native_attemptShouldStop(JNIEnv* env, jclass, jlong attempt) {
  return guarded(env,
                 [&]() -> jboolean { return fl_attempt_should_stop(handle_of(attempt)) != 0 ? JNI_TRUE : JNI_FALSE; });
}

JNIEXPORT void JNICALL Java_org_forelock_Native_replayStop(JNIEnv* env, jclass, jlong replay) {
  guarded(env, [&] { fl_replay_stop(handle_of(replay)); });
}

// \returns what could not be tidied up.
JNIEXPORT jbyteArray JNICALL Java_org_forelock_Native_replayReport(JNIEnv* env, jclass, jlong replay,
                                                                   jlongArray numbers) {
  return guarded(env, [&]() -> jbyteArray {
    fl_replay_report report{};
    report.size = sizeof report;
    if (!check(env, fl_replay_get_report(handle_of(replay), &report))) return nullptr;
    const std::array<jlong, 9> values{static_cast<jlong>(report.replayed),
                                      static_cast<jlong>(report.failed),
                                      static_cast<jlong>(report.later),
                                      static_cast<jlong>(report.parked),
                                      static_cast<jlong>(report.skipped),
                                      static_cast<jlong>(report.unreadable),
                                      report.stopped,
                                      static_cast<jlong>(report.unresolved),
                                      static_cast<jlong>(report.unresolved_left_out)};
    store(env, numbers, values.data(), values.size());
    return env->ExceptionCheck() == JNI_FALSE ? to_java(env, report.unsettled) : nullptr;
  });
}

// \returns its outcome.
JNIEXPORT jint JNICALL Java_org_forelock_Native_replayUnresolved(JNIEnv* env, jclass, jlong replay, jint index,
                                                                 jobjectArray texts) {
  return guarded(env, [&]() -> jint {
    fl_unresolved_letter letter{};
    letter.size = sizeof letter;
    if (!check(env, fl_replay_unresolved(handle_of(replay), static_cast<std::size_t>(index), &letter))) return 0;
    const std::array<const char*, 4> words{letter.id, letter.type, letter.monitor, letter.why};
    for (std::size_t i = 0; i < words.size(); ++i) store(env, texts, static_cast<jsize>(i), words[i]);
    return letter.outcome;
  });
}

JNIEXPORT void JNICALL Java_org_forelock_Native_replayFree(JNIEnv* env, jclass, jlong replay) {
  guarded(env, [&] { fl_replay_free(handle_of(replay)); });
}
}
