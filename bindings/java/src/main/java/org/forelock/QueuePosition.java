package org.forelock;

import java.time.Duration;
import java.util.Optional;

/** The place of a waiting lock in the queue. */
public final class QueuePosition {
  private final long place;
  private final String behind;
  private final String expectedMillis;

  QueuePosition(Event queued) {
    place = queued.value;
    behind = queued.message;
    expectedMillis = queued.hint;
  }

  /**
   * The place.
   *
   * @return 1 is next
   */
  public long place() {
    return place;
  }

  /**
   * The node directly before this contender's.
   *
   * @return its name, or "privateLock": only the holder
   */
  public String behind() {
    return behind;
  }

  /**
   * The expected further wait, estimated from this process's latest waits of its class for the monitor.
   *
   * @return empty as long as these are too few
   */
  public Optional<Duration> expectedWait() {
    return expectedMillis.isEmpty() ? Optional.empty()
        : Optional.of(Duration.ofMillis(Long.parseLong(expectedMillis)));
  }

  @Override
  public String toString() {
    return place + ", behind " + behind
        + expectedWait().map(wait -> ", for about " + wait.toMillis() + " ms").orElse("");
  }
}
