package org.forelock;

/** The state of a client, and counts since it was opened. */
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
    long[] numbers = new long[Layouts.ClientStatus.NUMBERS];
    byte[][] texts = new byte[Layouts.ClientStatus.TEXTS][];
    Native.clientGetStatus(core.handle, numbers, texts);
    return new ClientStatus(numbers, Failures.text(texts[Layouts.ClientStatus.INSTANCE]),
        Failures.text(texts[Layouts.ClientStatus.LAST_PROBLEM]));
  }

  /**
   * Whether a server is connected.
   *
   * @return true while one is
   */
  public boolean connected() {
    return numbers[Layouts.ClientStatus.CONNECTED] != 0;
  }

  /**
   * The session's id.
   *
   * @return 0 before the first connection
   */
  public long sessionId() {
    return numbers[Layouts.ClientStatus.SESSION_ID];
  }

  /**
   * The session time-out that the server has granted.
   *
   * @return milliseconds; 0 before the first connection
   */
  public long sessionTimeoutMillis() {
    return numbers[Layouts.ClientStatus.SESSION_TIMEOUT_MS];
  }

  /**
   * Locks granted.
   *
   * @return their number
   */
  public long granted() {
    return numbers[Layouts.ClientStatus.GRANTED];
  }

  /**
   * Acquisitions that ended without a grant.
   *
   * @return their number
   */
  public long refused() {
    return numbers[Layouts.ClientStatus.REFUSED];
  }

  /**
   * Held locks that were lost.
   *
   * @return their number
   */
  public long lost() {
    return numbers[Layouts.ClientStatus.LOST];
  }

  /**
   * Releases confirmed.
   *
   * @return their number
   */
  public long released() {
    return numbers[Layouts.ClientStatus.RELEASED];
  }

  /**
   * Requests sent to ZooKeeper.
   *
   * @return their number
   */
  public long requests() {
    return numbers[Layouts.ClientStatus.REQUESTS];
  }

  /**
   * Sessions that the server ended.
   *
   * @return their number
   */
  public long sessionsExpired() {
    return numbers[Layouts.ClientStatus.SESSIONS_EXPIRED];
  }

  /**
   * Connections lost.
   *
   * @return their number
   */
  public long disconnections() {
    return numbers[Layouts.ClientStatus.DISCONNECTIONS];
  }

  /**
   * Contenders not yet certainly gone from the server.
   *
   * @return their number
   */
  public long contenders() {
    return numbers[Layouts.ClientStatus.CONTENDERS];
  }

  /**
   * Acquisitions of a lock that lingered ({@code zookeeper.lock.linger}): without a request.
   *
   * @return their number
   */
  public long takenAgain() {
    return numbers[Layouts.ClientStatus.TAKEN_AGAIN];
  }

  /**
   * Locks that linger now: no caller holds them.
   *
   * @return their number
   */
  public long lingering() {
    return numbers[Layouts.ClientStatus.LINGERING];
  }

  /**
   * Held locks that were lost for this reason.
   *
   * @param reason the reason of the loss
   * @return their number
   */
  public long lost(LossReason reason) {
    return numbers[Layouts.ClientStatus.LOST_BY_REASON + reason.ordinal()];
  }

  /**
   * Attempts of operations after their first.
   *
   * @return their number
   */
  public long retries() {
    return numbers[Layouts.ClientStatus.RETRIES];
  }

  /**
   * Operations whose last attempt has failed.
   *
   * @return their number
   */
  public long retriesExhausted() {
    return numbers[Layouts.ClientStatus.RETRIES_EXHAUSTED];
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
   * The reason of the last failed attempt to connect.
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
