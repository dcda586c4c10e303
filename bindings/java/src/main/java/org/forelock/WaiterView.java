package org.forelock;

import java.time.Duration;
import java.util.Optional;

/** A contender in the queue. */
public final class WaiterView {
  static final int NUMBERS = OwnerRecord.NUMBERS + 5;
  static final int TEXTS = OwnerRecord.TEXTS + 2;

  private final long[] numbers;
  private final OwnerRecord owner;
  private final String node;
  private final String behind;

  WaiterView(long[] numbers, byte[][] texts) {
    this.numbers = java.util.Arrays.copyOfRange(numbers, OwnerRecord.NUMBERS, NUMBERS);
    this.owner = this.numbers[1] != 0 ? new OwnerRecord(numbers, texts) : null;
    this.node = Failures.text(texts[OwnerRecord.TEXTS]);
    this.behind = Failures.text(texts[OwnerRecord.TEXTS + 1]);
  }

  /**
   * Its place.
   *
   * @return 1 is next
   */
  public long position() {
    return numbers[0];
  }

  /**
   * Its node.
   *
   * @return e.g. "B-0000000008"
   */
  public String node() {
    return node;
  }

  /**
   * The node it waits for.
   *
   * @return the one before it, or "privateLock"
   */
  public String behind() {
    return behind;
  }

  /**
   * Its record.
   *
   * @return nothing if it left none that can be read
   */
  public Optional<OwnerRecord> owner() {
    return Optional.ofNullable(owner);
  }

  /**
   * Its class.
   *
   * @return nothing if unknown
   */
  public Optional<LockType> lockType() {
    return numbers[2] < 0 ? Optional.empty() : Optional.of(LockType.of(numbers[2]));
  }

  /**
   * The session that its node belongs to.
   *
   * @return the id
   */
  public long session() {
    return numbers[3];
  }

  /**
   * How long it waits.
   *
   * @return by wall clocks
   */
  public Duration waited() {
    return Duration.ofMillis(numbers[4]);
  }

  @Override
  public String toString() {
    return "WaiterView(" + position() + ", " + node + ", behind " + behind + ", waits for " + waited().toMillis()
        + " ms, " + (owner == null ? "a client that leaves no record" : owner) + ")";
  }
}
