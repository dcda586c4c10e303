package org.forelock;

/** Where a client stands, and counts since it was opened. */
public final class ClientStatus {
  private final long[] numbers;
  private final String instance;
  private final String lastProblem;

  ClientStatus(long[] numbers, String instance, String lastProblem) {
    this.numbers = numbers;
    this.instance = instance;
    this.lastProblem = lastProblem;
  }

  /**
   * Whether a server is connected.
   *
   * @return true while one is
   */
  public boolean connected() {
    return numbers[0] != 0;
  }

  /**
   * The session's id.
   *
   * @return 0 before the first connection
   */
  public long sessionId() {
    return numbers[1];
  }

  /**
   * The session time-out that the server has granted.
   *
   * @return milliseconds; 0 before the first connection
   */
  public long sessionTimeoutMillis() {
    return numbers[2];
  }

  /**
   * Locks granted.
   *
   * @return their number
   */
  public long granted() {
    return numbers[3];
  }

  /**
   * Acquisitions that ended without a grant.
   *
   * @return their number
   */
  public long refused() {
    return numbers[4];
  }

  /**
   * Held locks that were lost.
   *
   * @return their number
   */
  public long lost() {
    return numbers[5];
  }

  /**
   * Releases confirmed.
   *
   * @return their number
   */
  public long released() {
    return numbers[6];
  }

  /**
   * Requests sent to ZooKeeper.
   *
   * @return their number
   */
  public long requests() {
    return numbers[7];
  }

  /**
   * Sessions that the server ended.
   *
   * @return their number
   */
  public long sessionsExpired() {
    return numbers[8];
  }

  /**
   * Connections lost.
   *
   * @return their number
   */
  public long disconnections() {
    return numbers[9];
  }

  /**
   * Contenders not yet certainly gone from the server.
   *
   * @return their number
   */
  public long contenders() {
    return numbers[10];
  }

  /**
   * Acquisitions of a lock that lingered ({@code zookeeper.lock.linger}): without a request.
   *
   * @return their number
   */
  public long takenAgain() {
    return numbers[11];
  }

  /**
   * Locks that linger now: no caller holds them.
   *
   * @return their number
   */
  public long lingering() {
    return numbers[12];
  }

  /**
   * The instance identity.
   *
   * @return {@code host/pid}
   */
  public String instance() {
    return instance;
  }

  /**
   * What the last failed attempt to connect met.
   *
   * @return a text for people; may be empty
   */
  public String lastProblem() {
    return lastProblem;
  }
}
