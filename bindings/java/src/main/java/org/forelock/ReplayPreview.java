package org.forelock;

import java.time.Instant;
import java.util.Optional;

/** The expected outcome of a replay. A snapshot. */
public final class ReplayPreview {
  private final long[] numbers;

  ReplayPreview(long[] numbers) {
    this.numbers = numbers;
  }

  /**
   * Letters that it would try.
   *
   * @return their number
   */
  public long letters() {
    return numbers[Layouts.ReplayPreview.LETTERS];
  }

  /**
   * Records that cannot be read.
   *
   * @return their number
   */
  public long unreadable() {
    return numbers[Layouts.ReplayPreview.UNREADABLE];
  }

  /**
   * Letters that do not match, but precede matching ones of their monitors.
   *
   * @return their number
   */
  public long overtaken() {
    return numbers[Layouts.ReplayPreview.OVERTAKEN];
  }

  /**
   * The time of the oldest matching letter's failure.
   *
   * @return empty if none matches
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
