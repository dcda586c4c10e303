package org.forelock;

import java.time.Duration;
import java.util.Optional;

/** What is in a dead-letter queue's outbox, and counts of what was taken and delivered. A snapshot. */
public final class DeadLetterStatus {
  private final long[] numbers;
  private final String lastProblem;

  DeadLetterStatus(long[] numbers, String lastProblem) {
    this.numbers = numbers;
    this.lastProblem = lastProblem;
  }

  /**
   * How many letters are in the outbox.
   *
   * @return their number
   */
  public long outboxRows() {
    return numbers[Layouts.DlqStatus.OUTBOX_ROWS];
  }

  /**
   * What they count against {@code dlq.outbox.max.bytes}.
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
   * How many letters this object has taken.
   *
   * @return their number
   */
  public long accepted() {
    return numbers[Layouts.DlqStatus.ACCEPTED];
  }

  /**
   * How many letters this object has delivered to Kafka.
   *
   * @return their number
   */
  public long delivered() {
    return numbers[Layouts.DlqStatus.DELIVERED];
  }

  /**
   * How many attempts to deliver have failed.
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
   * Why the last delivery failed.
   *
   * @return for people; empty if none has
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
