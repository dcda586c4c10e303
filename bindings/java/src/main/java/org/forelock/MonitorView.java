package org.forelock;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** One monitor object as it was at one moment. */
public final class MonitorView {
  private final long[] numbers;
  private final OwnerRecord owner;
  private final String monitor;
  private final String path;
  private final String node;
  private final List<WaiterView> queue;

  MonitorView(long[] numbers, byte[][] texts, List<WaiterView> queue) {
    this.numbers = numbers;
    this.owner = numbers[Layouts.Monitor.HAS_OWNER] == 0 ? null
        : new OwnerRecord(numbers, Layouts.Monitor.OWNER, texts, Layouts.Monitor.OWNER_TEXTS,
            numbers[Layouts.Monitor.LINGER_MS]);
    this.monitor = Failures.text(texts[Layouts.Monitor.MONITOR]);
    this.path = Failures.text(texts[Layouts.Monitor.PATH]);
    this.node = Failures.text(texts[Layouts.Monitor.HOLDER_NODE]);
    this.queue = List.copyOf(queue);
  }

  /**
   * The id.
   *
   * @return decoded
   */
  public String monitor() {
    return monitor;
  }

  /**
   * Its znode.
   *
   * @return empty in a list
   */
  public String path() {
    return path;
  }

  /**
   * Whether it is held.
   *
   * @return true while a client holds it
   */
  public boolean held() {
    return numbers[Layouts.Monitor.HELD] != 0;
  }

  /**
   * The holder's record.
   *
   * @return empty if it is not held, or its holder left none that can be read
   */
  public Optional<OwnerRecord> owner() {
    return Optional.ofNullable(owner);
  }

  /**
   * The holder's class.
   *
   * @return empty if unknown
   */
  public Optional<LockType> holderType() {
    long type = numbers[Layouts.Monitor.HOLDER_PRIORITY];
    return type < 0 ? Optional.empty() : Optional.of(LockType.of(type));
  }

  /**
   * The holder's contender node.
   *
   * @return empty if it has none
   */
  public String holderNode() {
    return node;
  }

  /**
   * The session that owns the lock.
   *
   * @return 0 if it is not held
   */
  public long holderSession() {
    return numbers[Layouts.Monitor.HOLDER_SESSION];
  }

  /**
   * The holder's fencing token.
   *
   * @return 0 if it is not held
   */
  public long holderToken() {
    return numbers[Layouts.Monitor.HOLDER_TOKEN];
  }

  /**
   * The time for which it has been held.
   *
   * @return by wall clocks
   */
  public Duration heldFor() {
    return Duration.ofMillis(numbers[Layouts.Monitor.HELD_MS]);
  }

  /**
   * The number of waiting contenders.
   *
   * @return the count
   */
  public long waiting() {
    return numbers[Layouts.Monitor.WAITING];
  }

  /**
   * The number of waiting foreground contenders.
   *
   * @return the count
   */
  public long waitingForeground() {
    return numbers[Layouts.Monitor.WAITING_FOREGROUND];
  }

  /**
   * The number of waiting background contenders.
   *
   * @return the count
   */
  public long waitingBackground() {
    return numbers[Layouts.Monitor.WAITING_BACKGROUND];
  }

  /**
   * The queue, in the order in which it will be served.
   *
   * @return empty in a list
   */
  public List<WaiterView> queue() {
    return queue;
  }

  /**
   * The longest wait of those that wait now.
   *
   * @return by wall clocks; empty if none waits
   */
  public Optional<Duration> oldestWait() {
    long told = numbers[Layouts.Monitor.OLDEST_WAIT_MS];
    return told < 0 ? Optional.empty() : Optional.of(Duration.ofMillis(told));
  }

  @Override
  public String toString() {
    String holder = held() ? ", held for " + heldFor().toMillis() + " ms, token " + holderToken() + ", by "
        + (owner == null ? "a client that leaves no record" : owner) : ", not held";
    return "MonitorView(" + monitor + holder + ", " + waiting() + " waiting)";
  }
}
