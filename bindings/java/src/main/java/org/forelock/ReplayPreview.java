package org.forelock;

import java.time.Instant;
import java.util.Optional;

/** What a replay would do. A snapshot. */
public final class ReplayPreview {
  static final int NUMBERS = 4;

  private final long[] numbers;

  ReplayPreview(long[] numbers) {
    this.numbers = numbers;
  }

  /**
   * How many letters it would try.
   *
   * @return their number
   */
  public long letters() {
    return numbers[0];
  }

  /**
   * How many records cannot be read.
   *
   * @return their number
   */
  public long unreadable() {
    return numbers[1];
  }

  /**
   * How many letters do not match and stand before others of their monitors that do.
   *
   * @return their number
   */
  public long overtaken() {
    return numbers[2];
  }

  /**
   * When the oldest that matches failed.
   *
   * @return nothing if there is none
   */
  public Optional<Instant> oldest() {
    return numbers[3] < 0 ? Optional.empty() : Optional.of(Instant.ofEpochMilli(numbers[3]));
  }

  @Override
  public String toString() {
    return "ReplayPreview(" + letters() + " letters" + oldest().map(at -> ", the oldest of " + at).orElse("")
        + ", overtaken " + overtaken() + ", unreadable " + unreadable() + ")";
  }
}
