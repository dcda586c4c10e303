package org.forelock;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Properties;

/**
 * Where operations go that ran out of retries: a durable outbox on this machine ({@code dlq.outbox.path}) and, where
 * {@code kafka.bootstrap.servers} is set, its topic. Needs Kafka's client (librdkafka) on the machine.
 */
public final class DeadLetterQueue implements AutoCloseable {
  final long handle;

  /**
   * Opens the queue of a configuration file.
   *
   * @param file as for {@link ForelockClient}
   * @throws RequestRejectedException if the outbox cannot be opened
   */
  public DeadLetterQueue(Path file) {
    this(checked(() -> Config.load(file)));
  }

  /**
   * Opens the queue of these settings.
   *
   * @param properties as for {@link ForelockClient}
   * @throws RequestRejectedException if the outbox cannot be opened
   */
  public DeadLetterQueue(Properties properties) {
    this(checked(() -> Config.of(properties)));
  }

  private DeadLetterQueue(Config config) {
    try (config) {
      handle = Native.dlqOpen(config.handle);
    }
  }

  private static Config checked(java.util.function.Supplier<Config> config) {
    if (!Native.hasDeadLetters()) {
      throw new RequestRejectedException(ErrorCode.KAFKA_UNAVAILABLE, "",
          "there is no dead-letter queue: the library librdkafka.so.1 is not installed on this machine", "install it");
    }
    return config.get();
  }

  /**
   * Waits until nothing in the outbox is left to be forwarded.
   *
   * @param timeout at most
   * @return whether that is so
   */
  public boolean flush(Duration timeout) {
    return Blocking.call(() -> Native.dlqFlush(handle, timeout.toMillis()));
  }

  /**
   * How many letters are in the outbox.
   *
   * @return their number
   */
  public long outboxRows() {
    return status()[0];
  }

  /**
   * How many letters this object has taken.
   *
   * @return their number
   */
  public long accepted() {
    return status()[3];
  }

  /**
   * How many letters this object has delivered to Kafka.
   *
   * @return their number
   */
  public long delivered() {
    return status()[4];
  }

  private long[] status() {
    long[] numbers = new long[7];
    Native.dlqStatus(handle, numbers);
    return numbers;
  }

  /** Frees it; it is closed when the last runner that uses it is closed. Idempotent. */
  @Override
  public void close() {
    Native.dlqFree(handle);
  }
}
