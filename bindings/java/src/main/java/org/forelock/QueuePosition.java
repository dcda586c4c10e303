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
   * The node directly before ours.
   *
   * @return its name, or "privateLock": only the holder
   */
  public String behind() {
    return behind;
  }

  /**
   * How long it will probably still wait, by how this process's latest waits of its class for the monitor went.
   *
   * @return nothing as long as these were too few
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
