package org.forelock.opensearch;

import org.forelock.LockType;
import org.opensearch.common.unit.TimeValue;

/** How long a request is held at most. */
final class Timeouts {
  private final ForelockSettings settings;
  private final long foregroundMillis;
  private final long backgroundMillis;

  /** The two times are those of the lock's own configuration. */
  Timeouts(ForelockSettings settings, long foregroundMillis, long backgroundMillis) {
    this.settings = settings;
    this.foregroundMillis = foregroundMillis;
    this.backgroundMillis = backgroundMillis;
  }

  /**
   * The setting, else the configuration; less if the request itself permits less. 0: one attempt without waiting.
   *
   * @param requestMillis what the request permits; negative: as long as it takes
   */
  long millis(LockType type, long requestMillis) {
    TimeValue setting = settings.timeout(type);
    long millis = setting.millis();
    if (millis < 0) {
      millis = type == LockType.FOREGROUND ? foregroundMillis : backgroundMillis;
    }
    return requestMillis < 0 ? millis : Math.min(millis, requestMillis);
  }
}
