package org.forelock;

import java.time.Duration;
import java.util.Optional;

/** A contender in the queue. */
public final class WaiterView {
  private final long[] numbers;
  private final OwnerRecord owner;
  private final String node;
  private final String behind;

  WaiterView(long[] numbers, byte[][] texts) {
    this.numbers = numbers;
    this.owner = numbers[Layouts.Waiter.HAS_OWNER] == 0 ? null
        : new OwnerRecord(numbers, Layouts.Waiter.OWNER, texts, Layouts.Waiter.OWNER_TEXTS,
            numbers[Layouts.Waiter.LINGER_MS]);
    this.node = Failures.text(texts[Layouts.Waiter.NODE]);
    this.behind = Failures.text(texts[Layouts.Waiter.BEHIND]);
  }

  /**
   * Its place.
   *
   * @return 1 is next
   */
  public long position() {
    return numbers[Layouts.Waiter.POSITION];
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
   * @return empty if it left none that can be read
   */
  public Optional<OwnerRecord> owner() {
    return Optional.ofNullable(owner);
  }

  /**
   * Its class.
   *
   * @return empty if unknown
   */
  public Optional<LockType> lockType() {
    long type = numbers[Layouts.Waiter.PRIORITY];
    return type < 0 ? Optional.empty() : Optional.of(LockType.of(type));
  }

  /**
   * The session that its node belongs to.
   *
   * @return the id
   */
  public long session() {
    return numbers[Layouts.Waiter.SESSION];
  }

  /**
   * The time for which it has been waiting.
   *
   * @return by wall clocks
   */
  public Duration waited() {
    return Duration.ofMillis(numbers[Layouts.Waiter.WAITED_MS]);
  }

  @Override
  public String toString() {
    return "WaiterView(" + position() + ", " + node + ", behind " + behind + ", waits for " + waited().toMillis()
        + " ms, " + (owner == null ? "a client that leaves no record" : owner) + ")";
  }
}
