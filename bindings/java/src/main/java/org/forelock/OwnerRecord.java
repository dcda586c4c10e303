package org.forelock;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** Who holds or waits, and what for: the record that every contender leaves on the server. Times are for people. */
public final class OwnerRecord {
  static final int NUMBERS = 7;
  static final int TEXTS = 4;

  private final long[] numbers;
  private final String[] texts = new String[TEXTS];

  OwnerRecord(long[] numbers, byte[][] texts) {
    this.numbers = java.util.Arrays.copyOf(numbers, NUMBERS);
    for (int i = 0; i < TEXTS; ++i) {
      this.texts[i] = Failures.text(texts[i]);
    }
  }

  /**
   * Short description of why the lock is taken.
   *
   * @return the text given to the lock
   */
  public String lockInfo() {
    return texts[0];
  }

  /**
   * Who.
   *
   * @return {@code host/pid/thread}
   */
  public String instance() {
    return texts[1];
  }

  /**
   * Identifies the acquisition.
   *
   * @return the GUID
   */
  public String guid() {
    return texts[2];
  }

  /**
   * Where the lock was asked for.
   *
   * @return frames, innermost first; empty for locks of this library
   */
  public List<String> stack() {
    return texts[3].isEmpty() ? List.of() : List.of(texts[3].split("\n"));
  }

  /**
   * The class it contends in.
   *
   * @return the class
   */
  public LockType lockType() {
    return LockType.of(numbers[0]);
  }

  /**
   * When it began to wait.
   *
   * @return by that machine's clock
   */
  public Instant enqueuedAt() {
    return Instant.ofEpochMilli(numbers[1]);
  }

  /**
   * When the claim of a holder was sent.
   *
   * @return by that machine's clock; nothing for a waiter
   */
  public Optional<Instant> acquiredAt() {
    return instant(numbers[2]);
  }

  /**
   * How long the holder expects to need.
   *
   * @return nothing if it has not said
   */
  public Optional<Duration> expectedRuntime() {
    return duration(numbers[3]);
  }

  /**
   * When people should look at it.
   *
   * @return nothing if it has not said
   */
  public Optional<Instant> alertAt() {
    return instant(numbers[4]);
  }

  /**
   * When an unlocker may free it.
   *
   * @return nothing if it may not
   */
  public Optional<Instant> autoUnlockAt() {
    return instant(numbers[5]);
  }

  /**
   * How long the lock may stay with its process after a section ({@code zookeeper.lock.linger}).
   *
   * @return nothing if it does not. Else the record is that of the grant's first section: a later one may be under way,
   *     or none
   */
  public Optional<Duration> linger() {
    return duration(numbers[6]);
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
