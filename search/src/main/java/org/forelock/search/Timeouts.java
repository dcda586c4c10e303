package org.forelock.search;

import org.forelock.LockType;

/** The longest time that a request is held. */
public final class Timeouts {
  private final Limits settings;
  private final long foregroundMillis;
  private final long backgroundMillis;

  /** The two times come from the lock's own configuration. */
  public Timeouts(Limits settings, long foregroundMillis, long backgroundMillis) {
    this.settings = settings;
    this.foregroundMillis = foregroundMillis;
    this.backgroundMillis = backgroundMillis;
  }

  /**
   * The setting, else the configuration; less if the request itself permits less. 0: one attempt without waiting.
   *
   * @param requestMillis what the request permits; negative: no limit
   */
  public long millis(LockType type, long requestMillis) {
    long millis = settings.timeoutMillis(type);
    if (millis < 0) {
      millis = type == LockType.FOREGROUND ? foregroundMillis : backgroundMillis;
    }
    return requestMillis < 0 ? millis : Math.min(millis, requestMillis);
  }
}
