package org.forelock;

import java.time.Duration;

/** A holder's fencing token, as it was read. */
public final class HolderToken {
  private final long token;
  private final long ageNanos;

  HolderToken(long token, long ageNanos) {
    this.token = token;
    this.ageNanos = ageNanos;
  }

  /**
   * The fencing token of the holder.
   *
   * @return 0: the monitor was not held
   */
  public long token() {
    return token;
  }

  /**
   * The time since it was requested.
   *
   * @return never negative
   */
  public Duration age() {
    return Duration.ofNanos(ageNanos);
  }
}
