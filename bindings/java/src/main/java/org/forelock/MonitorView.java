package org.forelock;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** One monitor object as it was at one moment. */
public final class MonitorView {
  static final int NUMBERS = OwnerRecord.NUMBERS + 10;
  static final int TEXTS = OwnerRecord.TEXTS + 3;

  private final long[] numbers;
  private final OwnerRecord owner;
  private final String monitor;
  private final String path;
  private final String node;
  private final List<WaiterView> queue;

  MonitorView(long[] numbers, byte[][] texts, List<WaiterView> queue) {
    this.numbers = java.util.Arrays.copyOfRange(numbers, OwnerRecord.NUMBERS, NUMBERS);
    this.owner = this.numbers[1] != 0 ? new OwnerRecord(numbers, texts) : null;
    this.monitor = Failures.text(texts[OwnerRecord.TEXTS]);
    this.path = Failures.text(texts[OwnerRecord.TEXTS + 1]);
    this.node = Failures.text(texts[OwnerRecord.TEXTS + 2]);
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
    return numbers[0] != 0;
  }

  /**
   * The holder's record.
   *
   * @return nothing if it is not held, or left none that can be read
   */
  public Optional<OwnerRecord> owner() {
    return Optional.ofNullable(owner);
  }

  /**
   * The holder's class.
   *
   * @return nothing if unknown
   */
  public Optional<LockType> holderType() {
    return numbers[2] < 0 ? Optional.empty() : Optional.of(LockType.of(numbers[2]));
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
    return numbers[3];
  }

  /**
   * The holder's fencing token.
   *
   * @return 0 if it is not held
   */
  public long holderToken() {
    return numbers[4];
  }

  /**
   * How long it is held.
   *
   * @return by wall clocks
   */
  public Duration heldFor() {
    return Duration.ofMillis(numbers[5]);
  }

  /**
   * How many wait.
   *
   * @return their number
   */
  public long waiting() {
    return numbers[6];
  }

  /**
   * How many foreground locks wait.
   *
   * @return their number
   */
  public long waitingForeground() {
    return numbers[7];
  }

  /**
   * How many background locks wait.
   *
   * @return their number
   */
  public long waitingBackground() {
    return numbers[8];
  }

  /**
   * The line, in the order in which it will be served.
   *
   * @return empty in a list
   */
  public List<WaiterView> queue() {
    return queue;
  }

  /**
   * How long the one has waited that has waited longest.
   *
   * @return by wall clocks; nothing if none waits
   */
  public Optional<Duration> oldestWait() {
    return numbers[9] < 0 ? Optional.empty() : Optional.of(Duration.ofMillis(numbers[9]));
  }

  @Override
  public String toString() {
    String holder = held() ? ", held for " + heldFor().toMillis() + " ms, token " + holderToken() + ", by "
        + (owner == null ? "a client that leaves no record" : owner) : ", not held";
    return "MonitorView(" + monitor + holder + ", " + waiting() + " waiting)";
  }
}
