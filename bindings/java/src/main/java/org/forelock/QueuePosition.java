package org.forelock;

/** The place of a waiting lock in the queue. */
public final class QueuePosition {
  private final long place;
  private final String behind;

  QueuePosition(long place, String behind) {
    this.place = place;
    this.behind = behind;
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

  @Override
  public String toString() {
    return place + ", behind " + behind;
  }
}
