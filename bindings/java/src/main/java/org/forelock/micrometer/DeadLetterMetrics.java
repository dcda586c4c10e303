package org.forelock.micrometer;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.time.Duration;
import java.util.function.ToDoubleFunction;
import org.forelock.DeadLetterQueue;
import org.forelock.DeadLetterStatus;
import org.forelock.ForelockException;

/**
 * The metrics of a dead-letter queue as meters of Micrometer: {@code forelock.dlq.*}. A closed queue, or one whose
 * outbox cannot be read, has none.
 */
public final class DeadLetterMetrics implements MeterBinder {
  private final DeadLetterQueue queue;
  private final Tags tags;

  /**
   * Reads the queue whenever the registry is read. The registry keeps a reference to the queue.
   *
   * @param queue the queue to read
   * @param tags for all of its meters
   */
  public DeadLetterMetrics(DeadLetterQueue queue, Iterable<Tag> tags) {
    this.queue = queue;
    this.tags = Tags.of(tags);
  }

  /**
   * The same without tags.
   *
   * @param queue the queue to read
   */
  public DeadLetterMetrics(DeadLetterQueue queue) {
    this(queue, Tags.empty());
  }

  @Override
  public void bindTo(MeterRegistry registry) {
    gauge(registry, "outbox.rows", "Dead letters in the outbox", DeadLetterStatus::outboxRows);
    gauge(registry, "outbox.bytes", "What they count against its limit", DeadLetterStatus::outboxBytes);
    gauge(registry, "oldest.seconds", "The age of the oldest one; 0: there is none",
        status -> status.oldestAge().orElse(Duration.ZERO).toMillis() / 1000.0);
    counter(registry, "accepted", "Letters that this process has put into the outbox", DeadLetterStatus::accepted);
    counter(registry, "delivered", "Letters that this process has delivered to Kafka", DeadLetterStatus::delivered);
    counter(registry, "delivery.failures", "Attempts to deliver that have failed", DeadLetterStatus::deliveryFailures);
  }

  private static double number(DeadLetterQueue of, ToDoubleFunction<DeadLetterStatus> value) {
    try {
      return value.applyAsDouble(of.status());
    } catch (ForelockException | IllegalStateException unreadable) {
      return Double.NaN;
    }
  }

  private void gauge(MeterRegistry registry, String name, String help, ToDoubleFunction<DeadLetterStatus> value) {
    Gauge.builder("forelock.dlq." + name, queue, of -> number(of, value)).description(help).tags(tags)
        .strongReference(true).register(registry);
  }

  private void counter(MeterRegistry registry, String name, String help, ToDoubleFunction<DeadLetterStatus> value) {
    FunctionCounter.builder("forelock.dlq." + name, queue, of -> number(of, value)).description(help).tags(tags)
        .register(registry);
  }
}
