package org.forelock;

import java.time.Instant;
import java.util.Optional;

/** What a replay would do. A snapshot. */
public final class ReplayPreview {
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
    return numbers[Layouts.ReplayPreview.LETTERS];
  }

  /**
   * How many records cannot be read.
   *
   * @return their number
   */
  public long unreadable() {
    return numbers[Layouts.ReplayPreview.UNREADABLE];
  }

  /**
   * How many letters do not match and stand before others of their monitors that do.
   *
   * @return their number
   */
  public long overtaken() {
    return numbers[Layouts.ReplayPreview.OVERTAKEN];
  }

  /**
   * When the oldest that matches failed.
   *
   * @return nothing if there is none
   */
  public Optional<Instant> oldest() {
    long told = numbers[Layouts.ReplayPreview.OLDEST_MS];
    return told < 0 ? Optional.empty() : Optional.of(Instant.ofEpochMilli(told));
  }

  @Override
  public String toString() {
    return "ReplayPreview(" + letters() + " letters" + oldest().map(at -> ", the oldest of " + at).orElse("")
        + ", overtaken " + overtaken() + ", unreadable " + unreadable() + ")";
  }
}
