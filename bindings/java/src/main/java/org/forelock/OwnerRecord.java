package org.forelock;

import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** The record that every contender leaves on the server: its identity and its lock's purpose. Times are for people. */
public final class OwnerRecord {
  private final long[] numbers;
  private final String[] texts = new String[Layouts.Owner.TEXTS];
  private final long lingerMs;

  /** Reads a structure from these indexes on, and takes the value that it has no member for. */
  OwnerRecord(long[] numbers, int number, byte[][] texts, int text, long lingerMs) {
    this.numbers = Arrays.copyOfRange(numbers, number, number + Layouts.Owner.NUMBERS);
    for (int i = 0; i < this.texts.length; ++i) {
      this.texts[i] = Failures.text(texts[text + i]);
    }
    this.lingerMs = lingerMs;
  }

  static OwnerRecord of(long lock) {
    long[] numbers = new long[Layouts.Owner.NUMBERS];
    byte[][] texts = new byte[Layouts.Owner.TEXTS][];
    Native.lockOwner(lock, numbers, texts);
    return new OwnerRecord(numbers, 0, texts, 0, Native.lockGetLinger(lock));
  }

  /**
   * A short description of the lock's purpose.
   *
   * @return the text given to the lock
   */
  public String lockInfo() {
    return texts[Layouts.Owner.LOCK_INFO];
  }

  /**
   * The contender's identity.
   *
   * @return {@code host/pid/thread}
   */
  public String instance() {
    return texts[Layouts.Owner.INSTANCE];
  }

  /**
   * Identifies the acquisition.
   *
   * @return the GUID
   */
  public String guid() {
    return texts[Layouts.Owner.GUID];
  }

  /**
   * The call stack of the acquisition.
   *
   * @return frames, innermost first; empty for locks of this library
   */
  public List<String> stack() {
    String stack = texts[Layouts.Owner.STACK];
    return stack.isEmpty() ? List.of() : List.of(stack.split("\n"));
  }

  /**
   * The class in which it contends.
   *
   * @return the class
   */
  public LockType lockType() {
    return LockType.of(numbers[Layouts.Owner.PRIORITY]);
  }

  /**
   * The time at which it began to wait.
   *
   * @return by that machine's clock
   */
  public Instant enqueuedAt() {
    return Instant.ofEpochMilli(numbers[Layouts.Owner.ENQUEUED_AT_MS]);
  }

  /**
   * The time at which a holder's claim was sent.
   *
   * @return by that machine's clock; empty for a waiter
   */
  public Optional<Instant> acquiredAt() {
    return instant(numbers[Layouts.Owner.ACQUIRED_AT_MS]);
  }

  /**
   * The time that the holder expects to need.
   *
   * @return empty if it gave none
   */
  public Optional<Duration> expectedRuntime() {
    return duration(numbers[Layouts.Owner.EXPECTED_RUNTIME_MS]);
  }

  /**
   * The time at which an operator should look at it.
   *
   * @return empty if it gave none
   */
  public Optional<Instant> alertAt() {
    return instant(numbers[Layouts.Owner.ALERT_AT_MS]);
  }

  /**
   * The time from which an unlocker may free it.
   *
   * @return empty if it may not
   */
  public Optional<Instant> autoUnlockAt() {
    return instant(numbers[Layouts.Owner.AUTO_UNLOCK_AT_MS]);
  }

  /**
   * The longest time for which the lock stays with its process after a section ({@code zookeeper.lock.linger}).
   *
   * @return empty if it does not. Otherwise the record describes the grant's first section: a later one may be under
   *     way, or none
   */
  public Optional<Duration> linger() {
    return duration(lingerMs);
  }

  private static Optional<Duration> duration(long milliseconds) {
    return milliseconds < 0 ? Optional.empty() : Optional.of(Duration.ofMillis(milliseconds));
  }

  private static Optional<Instant> instant(long milliseconds) {
    return milliseconds < 0 ? Optional.empty() : Optional.of(Instant.ofEpochMilli(milliseconds));
  }

  @Override
  public String toString() {
    return instance() + " for \"" + lockInfo() + "\" (" + lockType().text() + ")"
        + acquiredAt().map(time -> " since " + time).orElse("");
  }
}
