package org.forelock;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;

/**
 * The choice of dead letters for a replay, and its limits. All conditions that are set must hold; of several values in
 * one condition, any. Immutable.
 */
public final class ReplayOptions {
  /** The defaults: all letters of the queue. */
  public static final ReplayOptions DEFAULT = new ReplayOptions(
      new byte[Layouts.ReplayOptions.LISTS][][], new long[Layouts.ReplayOptions.NUMBERS]);

  /** Ids, monitors, types and reasons; null: any. */
  final byte[][][] texts;
  final long[] numbers;

  private ReplayOptions(byte[][][] texts, long[] numbers) {
    this.texts = texts;
    this.numbers = numbers;
  }

  private ReplayOptions with(int condition, Collection<String> values) {
    byte[][][] changed = texts.clone();
    changed[condition] =
        values.isEmpty() ? null : values.stream().map(NativeLibrary::utf8).toArray(byte[][]::new);
    return new ReplayOptions(changed, numbers);
  }

  private ReplayOptions with(int place, long value) {
    long[] changed = numbers.clone();
    changed[place] = value;
    return new ReplayOptions(texts, changed);
  }

  private static long positive(long value, String what) {
    if (value < 1) {
      throw new RequestRejectedException(ErrorCode.INVALID_ARGUMENT, "", what + " is " + value, "give at least 1");
    }
    return value;
  }

  /**
   * Limits a replay to letters with these ids.
   *
   * @param values whole ids; empty: any
   * @return options with it
   */
  public ReplayOptions ids(Collection<String> values) {
    return with(Layouts.ReplayOptions.IDS, values);
  }

  /**
   * Limits a replay to letters of these monitors.
   *
   * @param values ids of monitor objects; empty: any
   * @return options with it
   */
  public ReplayOptions monitors(Collection<String> values) {
    return with(Layouts.ReplayOptions.MONITORS, values);
  }

  /**
   * Limits a replay to letters of these kinds of operation.
   *
   * @param values types; empty: any
   * @return options with it
   */
  public ReplayOptions types(Collection<String> values) {
    return with(Layouts.ReplayOptions.TYPES, values);
  }

  /**
   * Limits a replay to letters whose last failure had one of these codes.
   *
   * @param values codes; empty: any
   * @return options with it
   */
  public ReplayOptions reasons(Collection<String> values) {
    return with(Layouts.ReplayOptions.REASONS, values);
  }

  /**
   * Limits a replay to letters that failed at this time or later.
   *
   * @param time an instant after 1970
   * @return options with it
   */
  public ReplayOptions since(Instant time) {
    return with(Layouts.ReplayOptions.SINCE_MS, time.toEpochMilli());
  }

  /**
   * Limits a replay to letters that failed before this time.
   *
   * @param time an instant after 1970
   * @return options with it
   */
  public ReplayOptions until(Instant time) {
    return with(Layouts.ReplayOptions.UNTIL_MS, time.toEpochMilli());
  }

  /**
   * Replays the letters in the parking place instead of those in the queue.
   *
   * @param only whether to do so
   * @return options with it
   */
  public ReplayOptions parked(boolean only) {
    return with(Layouts.ReplayOptions.PARKED, only ? 1 : 0);
  }

  /**
   * Replays the letters in this machine's outbox even where Kafka is configured.
   *
   * @param only whether to do so
   * @return options with it
   */
  public ReplayOptions outbox(boolean only) {
    return with(Layouts.ReplayOptions.OUTBOX, only ? 1 : 0);
  }

  /**
   * Limits the number of letters that are tried.
   *
   * @param letters at most, 1 or more
   * @return options with it
   */
  public ReplayOptions max(long letters) {
    return with(Layouts.ReplayOptions.MAX, positive(letters, "the number of letters"));
  }

  /**
   * Limits the letters that are begun per second.
   *
   * @param perSecond at most; 0: no limit
   * @return options with it
   */
  public ReplayOptions rate(double perSecond) {
    return with(Layouts.ReplayOptions.RATE, Double.doubleToRawLongBits(perSecond));
  }

  /**
   * Limits the letters that {@link DeadLetterQueue#replayAsync} works on at once, one for each monitor.
   *
   * @param monitors 1 to 256; 4 by default
   * @return options with it
   */
  public ReplayOptions concurrency(int monitors) {
    return with(Layouts.ReplayOptions.CONCURRENCY, positive(monitors, "the concurrency"));
  }

  /**
   * Limits the wait for each letter's lock.
   *
   * @param time at most, more than zero; 2 s by default
   * @return options with it
   */
  public ReplayOptions lockTimeout(Duration time) {
    return with(Layouts.ReplayOptions.LOCK_TIMEOUT_MS,
        positive(Milliseconds.said(time, "the lock's time-out"), "the lock's time-out"));
  }

  /**
   * Sets the number of failed replays after which a letter is parked.
   *
   * @param tries 1 or more; 3 by default
   * @return options with it
   */
  public ReplayOptions maxTries(int tries) {
    return with(Layouts.ReplayOptions.MAX_TRIES, positive(tries, "the number of tries"));
  }

  /**
   * Limits the letters that {@link ReplayReport#unresolved()} lists.
   *
   * @param letters at most, 1 or more; 10,000 by default
   * @return options with it
   */
  public ReplayOptions maxUnresolved(int letters) {
    return with(Layouts.ReplayOptions.MAX_UNRESOLVED, positive(letters, "the number of letters that are listed"));
  }
}
