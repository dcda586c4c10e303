package org.forelock.micrometer;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import org.forelock.ClientStatus;
import org.forelock.DurationHistogram;
import org.forelock.ForelockClient;
import org.forelock.ForelockException;
import org.forelock.LockTimes;
import org.forelock.LockType;
import org.forelock.LossReason;

/**
 * The metrics of a client as meters of Micrometer: {@code forelock.client.*}. No monitor is a tag.
 *
 * <p>Waits and holds of locks are timers ({@code forelock.client.wait}, {@code forelock.client.hold}, with the tag
 * {@code priority}). A registry accepts no histogram that is counted elsewhere, so each bucket is a counter besides
 * ({@code forelock.client.wait.bucket}, {@code forelock.client.hold.bucket}, with the tag {@code le} as in Prometheus);
 * {@code histogram_quantile} takes their rates.
 */
public final class ForelockMetrics implements MeterBinder {
  private final ForelockClient client;
  private final Tags tags;

  /**
   * Reads the client whenever the registry is read. The registry keeps the client; a closed one is not connected.
   *
   * @param client the client to read
   * @param tags for all of its meters, such as the client's name where there are several
   */
  public ForelockMetrics(ForelockClient client, Iterable<Tag> tags) {
    this.client = client;
    this.tags = Tags.of(tags);
  }

  /**
   * The same without tags.
   *
   * @param client the client to read
   */
  public ForelockMetrics(ForelockClient client) {
    this(client, Tags.empty());
  }

  @Override
  public void bindTo(MeterRegistry registry) {
    gauge(registry, "connected", "Whether a server is connected", status -> status.connected() ? 1 : 0);
    gauge(registry, "contenders", "Contenders that may have a node on the servers", ClientStatus::contenders);
    gauge(registry, "lingering", "Of these, locks that linger: no caller holds them", ClientStatus::lingering);
    counter(registry, "granted", "Locks that ZooKeeper has granted", ClientStatus::granted);
    counter(registry, "taken.again", "Acquisitions of a lock that lingered", ClientStatus::takenAgain);
    counter(registry, "refused", "Acquisitions that ended without a grant", ClientStatus::refused);
    for (LossReason reason : LossReason.values()) {
      counter(registry, "lost", "Held locks that were lost, by why", status -> status.lost(reason), "reason",
          reason.name().toLowerCase(Locale.ROOT));
    }
    counter(registry, "retries", "Operations that were tried again", ClientStatus::retries);
    counter(registry, "retries.exhausted", "Operations whose last attempt has failed", ClientStatus::retriesExhausted);
    counter(registry, "released", "Releases that were confirmed", ClientStatus::released);
    counter(registry, "requests", "Requests sent to ZooKeeper", ClientStatus::requests);
    counter(registry, "sessions.expired", "Sessions that the servers ended", ClientStatus::sessionsExpired);
    counter(registry, "disconnections", "Connections that were lost", ClientStatus::disconnections);
    for (LockType type : LockType.values()) {
      times(registry, "wait", "How long acquisitions waited that were granted", type, LockTimes::waits);
      times(registry, "hold", "How long locks were held", type, LockTimes::holds);
    }
  }

  // An exception of a freed client would be logged with each reading.
  private static <T> double number(T of, ToDoubleFunction<T> value) {
    try {
      return value.applyAsDouble(of);
    } catch (ForelockException closed) {
      return Double.NaN;
    }
  }

  private void gauge(MeterRegistry registry, String name, String help, ToDoubleFunction<ClientStatus> value) {
    Gauge.builder("forelock.client." + name, client, of -> number(of, some -> value.applyAsDouble(some.status())))
        .description(help).tags(tags).strongReference(true).register(registry);
  }

  private void counter(MeterRegistry registry, String name, String help, ToDoubleFunction<ClientStatus> value,
      String... more) {
    FunctionCounter
        .builder("forelock.client." + name, client, of -> number(of, some -> value.applyAsDouble(some.status())))
        .description(help).tags(tags.and(more)).register(registry);
  }

  private void times(MeterRegistry registry, String name, String help, LockType type,
      Function<LockTimes, DurationHistogram> which) {
    Tags ofClass = tags.and("priority", type.name().toLowerCase(Locale.ROOT));
    ToLongFunction<ForelockClient> count = of -> {
      try {
        return which.apply(of.times(type)).count();
      } catch (ForelockException closed) {
        return 0;
      }
    };
    FunctionTimer
        .builder("forelock.client." + name, client, count,
            of -> number(of, some -> which.apply(some.times(type)).sum().toNanos()), TimeUnit.NANOSECONDS)
        .description(help).tags(ofClass).register(registry);
    long[] bounds = DurationHistogram.boundsMillis();
    for (int i = 0; i <= bounds.length; ++i) {
      int bucket = i;
      String bound = i == bounds.length ? "+Inf" : Double.toString(bounds[i] / 1000.0);
      FunctionCounter
          .builder("forelock.client." + name + ".bucket", client,
              of -> number(of, some -> which.apply(some.times(type)).countUpTo(bucket)))
          .description(help + ": at most so many seconds").tags(ofClass.and("le", bound)).register(registry);
    }
  }
}
