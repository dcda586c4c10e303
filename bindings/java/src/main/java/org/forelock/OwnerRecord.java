package org.forelock;

import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** Who holds or waits, and what for: the record that every contender leaves on the server. Times are for people. */
public final class OwnerRecord {
  private final long[] numbers;
  private final String[] texts = new String[Layouts.Owner.TEXTS];
  private final long lingerMs;

  /** Out of a structure that has it from these places on, and what it has no place for. */
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
   * Short description of why the lock is taken.
   *
   * @return the text given to the lock
   */
  public String lockInfo() {
    return texts[Layouts.Owner.LOCK_INFO];
  }

  /**
   * Who.
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
   * Where the lock was asked for.
   *
   * @return frames, innermost first; empty for locks of this library
   */
  public List<String> stack() {
    String stack = texts[Layouts.Owner.STACK];
    return stack.isEmpty() ? List.of() : List.of(stack.split("\n"));
  }

  /**
   * The class it contends in.
   *
   * @return the class
   */
  public LockType lockType() {
    return LockType.of(numbers[Layouts.Owner.PRIORITY]);
  }

  /**
   * When it began to wait.
   *
   * @return by that machine's clock
   */
  public Instant enqueuedAt() {
    return Instant.ofEpochMilli(numbers[Layouts.Owner.ENQUEUED_AT_MS]);
  }

  /**
   * When the claim of a holder was sent.
   *
   * @return by that machine's clock; nothing for a waiter
   */
  public Optional<Instant> acquiredAt() {
    return instant(numbers[Layouts.Owner.ACQUIRED_AT_MS]);
  }

  /**
   * How long the holder expects to need.
   *
   * @return nothing if it has not said
   */
  public Optional<Duration> expectedRuntime() {
    return duration(numbers[Layouts.Owner.EXPECTED_RUNTIME_MS]);
  }

  /**
   * When people should look at it.
   *
   * @return nothing if it has not said
   */
  public Optional<Instant> alertAt() {
    return instant(numbers[Layouts.Owner.ALERT_AT_MS]);
  }

  /**
   * When an unlocker may free it.
   *
   * @return nothing if it may not
   */
  public Optional<Instant> autoUnlockAt() {
    return instant(numbers[Layouts.Owner.AUTO_UNLOCK_AT_MS]);
  }

  /**
   * How long the lock may stay with its process after a section ({@code zookeeper.lock.linger}).
   *
   * @return nothing if it does not. Else the record is that of the grant's first section: a later one may be under way,
   *     or none
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
