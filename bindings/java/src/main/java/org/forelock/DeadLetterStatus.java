package org.forelock;

import java.time.Duration;
import java.util.Optional;

/** The contents of a dead-letter queue's outbox, and counts of letters accepted and delivered. A snapshot. */
public final class DeadLetterStatus {
  private final long[] numbers;
  private final String lastProblem;

  DeadLetterStatus(long[] numbers, String lastProblem) {
    this.numbers = numbers;
    this.lastProblem = lastProblem;
  }

  /**
   * Letters in the outbox.
   *
   * @return their number
   */
  public long outboxRows() {
    return numbers[Layouts.DlqStatus.OUTBOX_ROWS];
  }

  /**
   * Their size, as counted against {@code dlq.outbox.max.bytes}.
   *
   * @return bytes
   */
  public long outboxBytes() {
    return numbers[Layouts.DlqStatus.OUTBOX_BYTES];
  }

  /**
   * The age of the oldest letter in the outbox.
   *
   * @return nothing if there is none
   */
  public Optional<Duration> oldestAge() {
    long told = numbers[Layouts.DlqStatus.OLDEST_AGE_MS];
    return told < 0 ? Optional.empty() : Optional.of(Duration.ofMillis(told));
  }

  /**
   * Letters that this object has accepted.
   *
   * @return their number
   */
  public long accepted() {
    return numbers[Layouts.DlqStatus.ACCEPTED];
  }

  /**
   * Letters that this object has delivered to Kafka.
   *
   * @return their number
   */
  public long delivered() {
    return numbers[Layouts.DlqStatus.DELIVERED];
  }

  /**
   * Failed attempts to deliver.
   *
   * @return their number
   */
  public long deliveryFailures() {
    return numbers[Layouts.DlqStatus.DELIVERY_FAILURES];
  }

  /**
   * Whether this process pushes to Kafka.
   *
   * @return false without Kafka, or while another process does
   */
  public boolean forwarding() {
    return numbers[Layouts.DlqStatus.FORWARDING] != 0;
  }

  /**
   * The reason of the last failed delivery.
   *
   * @return for people; empty if none has failed
   */
  public String lastProblem() {
    return lastProblem;
  }

  @Override
  public String toString() {
    return "DeadLetterStatus(" + outboxRows() + " in the outbox, " + outboxBytes() + " bytes"
        + oldestAge().map(age -> ", the oldest for " + age.toMillis() + " ms").orElse("") + ", accepted " + accepted()
        + ", delivered " + delivered() + ", delivery failures " + deliveryFailures()
        + (forwarding() ? ", forwarding" : ", not forwarding")
        + (lastProblem.isEmpty() ? "" : ", last problem: " + lastProblem) + ")";
  }
}
