package org.forelock;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** An operation that ran out of retries, as the dead-letter queue has it. Immutable. */
public final class DeadLetter {
  private static final int NUMBERS = 7;
  private static final int TEXTS = 7;

  private final long[] numbers = new long[NUMBERS];
  private final String[] texts = new String[TEXTS];
  private final byte[] payload;
  private final List<FailedAttempt> attempts;

  /** Reads that of an attempt. */
  DeadLetter(long attempt) {
    byte[][] told = new byte[TEXTS][];
    payload = Native.attemptLetter(attempt, numbers, told);
    for (int i = 0; i < TEXTS; ++i) {
      texts[i] = Failures.text(told[i]);
    }
    int count = (int) numbers[2];
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
    return texts[0];
  }

  /**
   * What kind of operation it is.
   *
   * @return as given
   */
  public String type() {
    return texts[1];
  }

  /**
   * The monitor object whose lock it needs.
   *
   * @return its id
   */
  public String monitor() {
    return texts[2];
  }

  /**
   * The class of the operation's lock. It is replayed as background work, whatever this says.
   *
   * @return as given
   */
  public LockType lockType() {
    return LockType.values()[(int) numbers[0]];
  }

  /**
   * What the operation's lock was for.
   *
   * @return a short text
   */
  public String lockInfo() {
    return texts[3];
  }

  /**
   * All that is needed to do the work.
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
    return texts[4];
  }

  /**
   * The operation's attempts that failed.
   *
   * @return oldest first
   */
  public List<FailedAttempt> attempts() {
    return attempts;
  }

  /**
   * How many attempts there could have been.
   *
   * @return their number
   */
  public int maxAttempts() {
    return (int) numbers[3];
  }

  /**
   * How often it had been replayed into a topic before it failed again.
   *
   * @return 0: never
   */
  public int replayCount() {
    return (int) numbers[4];
  }

  /**
   * When the operation was first asked for.
   *
   * @return an instant
   */
  public Instant enqueuedAt() {
    return Instant.ofEpochMilli(numbers[5]);
  }

  /**
   * When its last attempt failed.
   *
   * @return an instant
   */
  public Instant failedAt() {
    return Instant.ofEpochMilli(numbers[6]);
  }

  /**
   * The process that gave it up.
   *
   * @return {@code host/pid}
   */
  public String instance() {
    return texts[5];
  }

  /**
   * The operation's W3C trace context.
   *
   * @return may be empty
   */
  public String traceparent() {
    return texts[6];
  }

  int tries() {
    return (int) numbers[1];
  }

  @Override
  public String toString() {
    return "DeadLetter(" + id() + ", " + type() + " on " + monitor() + ", " + reason() + " at " + failedAt() + ")";
  }
}
