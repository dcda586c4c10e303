package org.forelock;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** A dead letter: an operation that has used up its retries, as stored in the dead-letter queue. Immutable. */
public final class DeadLetter {
  private final long[] numbers = new long[Layouts.Letter.NUMBERS];
  private final String[] texts = new String[Layouts.Letter.TEXTS];
  private final byte[] payload;
  private final List<FailedAttempt> attempts;

  /** Reads the letter of an attempt. */
  DeadLetter(long attempt) {
    byte[][] told = new byte[texts.length][];
    payload = Native.attemptLetter(attempt, numbers, told);
    for (int i = 0; i < texts.length; ++i) {
      texts[i] = Failures.text(told[i]);
    }
    int count = (int) numbers[Layouts.Letter.FAILURE_COUNT];
    long[] times = new long[2 * count];
    byte[][] words = new byte[2 * count][];
    Native.attemptFailures(attempt, times, words);
    List<FailedAttempt> all = new ArrayList<>(count);
    for (int i = 0; i < 2 * count; i += 2) {
      all.add(new FailedAttempt(Instant.ofEpochMilli(times[i]), Failures.text(words[i]), Failures.text(words[i + 1]),
          Duration.ofMillis(times[i + 1])));
    }
    attempts = Collections.unmodifiableList(all);
  }

  /**
   * The idempotency key.
   *
   * @return the operation's id
   */
  public String id() {
    return texts[Layouts.Letter.ID];
  }

  /**
   * The kind of operation.
   *
   * @return as given
   */
  public String type() {
    return texts[Layouts.Letter.TYPE];
  }

  /**
   * The monitor object whose lock it needs.
   *
   * @return its id
   */
  public String monitor() {
    return texts[Layouts.Letter.MONITOR];
  }

  /**
   * The class of the operation's lock. A replay is background work in any case.
   *
   * @return as given
   */
  public LockType lockType() {
    return LockType.values()[(int) numbers[Layouts.Letter.PRIORITY]];
  }

  /**
   * The purpose of the operation's lock.
   *
   * @return a short text
   */
  public String lockInfo() {
    return texts[Layouts.Letter.LOCK_INFO];
  }

  /**
   * The data that the work needs.
   *
   * @return a copy
   */
  public byte[] payload() {
    return payload.clone();
  }

  /**
   * The code of the last failure.
   *
   * @return stable, for programs
   */
  public String reason() {
    return texts[Layouts.Letter.REASON];
  }

  /**
   * The operation's failed attempts.
   *
   * @return oldest first
   */
  public List<FailedAttempt> attempts() {
    return attempts;
  }

  /**
   * The largest number of attempts that was allowed.
   *
   * @return their number
   */
  public int maxAttempts() {
    return (int) numbers[Layouts.Letter.MAX_ATTEMPTS];
  }

  /**
   * The number of its replays into a topic before this failure.
   *
   * @return 0: never
   */
  public int replayCount() {
    return (int) numbers[Layouts.Letter.REPLAY_COUNT];
  }

  /**
   * The time of the operation's first request.
   *
   * @return an instant
   */
  public Instant enqueuedAt() {
    return Instant.ofEpochMilli(numbers[Layouts.Letter.ENQUEUED_AT_MS]);
  }

  /**
   * The time of its last failure.
   *
   * @return an instant
   */
  public Instant failedAt() {
    return Instant.ofEpochMilli(numbers[Layouts.Letter.FAILED_AT_MS]);
  }

  /**
   * The process that gave it up.
   *
   * @return {@code host/pid}
   */
  public String instance() {
    return texts[Layouts.Letter.INSTANCE];
  }

  /**
   * The operation's W3C trace context.
   *
   * @return may be empty
   */
  public String traceparent() {
    return texts[Layouts.Letter.TRACEPARENT];
  }

  int tries() {
    return (int) numbers[Layouts.Letter.TRIES];
  }

  @Override
  public String toString() {
    return "DeadLetter(" + id() + ", " + type() + " on " + monitor() + ", " + reason() + " at " + failedAt() + ")";
  }
}
