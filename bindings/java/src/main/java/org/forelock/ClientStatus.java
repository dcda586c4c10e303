package org.forelock;

/** Where a client stands, and counts since it was opened. */
public final class ClientStatus {
  private final long[] numbers;
  private final String instance;
  private final String lastProblem;

  private ClientStatus(long[] numbers, String instance, String lastProblem) {
    this.numbers = numbers;
    this.instance = instance;
    this.lastProblem = lastProblem;
  }

  static ClientStatus of(ClientCore core) {
    long[] numbers = new long[13];
    byte[][] texts = new byte[2][];
    Native.clientStatus(core.handle, numbers, texts);
    return new ClientStatus(numbers, Failures.text(texts[0]), Failures.text(texts[1]));
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

  @Override
  public String toString() {
    return "ClientStatus(" + instance + ", " + (connected() ? "connected" : "not connected") + ", session 0x"
        + Long.toHexString(sessionId()) + " of " + sessionTimeoutMillis() + " ms, granted " + granted() + ", refused "
        + refused() + ", lost " + lost() + ", released " + released() + ", contenders " + contenders() + ", lingering "
        + lingering() + ", taken again " + takenAgain() + ", requests " + requests() + ", sessions expired "
        + sessionsExpired() + ", disconnections " + disconnections()
        + (lastProblem.isEmpty() ? "" : ", last problem: " + lastProblem) + ")";
  }
}
