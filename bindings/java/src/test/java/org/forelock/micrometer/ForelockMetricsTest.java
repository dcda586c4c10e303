package org.forelock.micrometer;

import static org.junit.jupiter.api.Assertions.*;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import org.forelock.DeadLetterQueue;
import org.forelock.ForelockClient;
import org.forelock.LockTimes;
import org.forelock.LockType;
import org.forelock.ZkBlockingWriteLock;
import org.forelock.testkit.DevServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** The numbers of a client as Micrometer reads them; here where the command, which has a server, is built. */
@EnabledIfSystemProperty(named = DevServer.COMMAND, matches = ".+")
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ForelockMetricsTest {
  @RegisterExtension
  static final DevServer SERVER = new DevServer();

  private final MeterRegistry registry = new SimpleMeterRegistry();

  private double counter(String name, String... tags) {
    return registry.get("forelock.client." + name).tags(tags).functionCounter().count();
  }

  private long timed(String name, String priority) {
    return (long) registry.get("forelock.client." + name).tags("priority", priority).functionTimer().count();
  }

  @Test
  void theyFollowTheClient() {
    try (ForelockClient client = ForelockClient.builder().servers(SERVER.servers()).build()) {
      new ForelockMetrics(client, Tags.of("client", "main")).bindTo(registry);
      client.waitConnected(Duration.ofSeconds(60));
      assertEquals(1, registry.get("forelock.client.connected").tag("client", "main").gauge().value());
      assertEquals(0, counter("granted"));
      try (ZkBlockingWriteLock lock = new ZkBlockingWriteLock("Save", client, "P1", LockType.BACKGROUND)) {
        lock.lock();
        assertEquals(1, counter("granted"));
        assertEquals(1, registry.get("forelock.client.contenders").gauge().value());
        assertEquals(1, timed("wait", "background"));
        assertEquals(0, timed("hold", "background"));
        lock.unlock();
      }
      assertEquals(1, counter("released"));
      for (String reason : new String[]{"deadline_passed", "session_expired", "removed", "closed"}) {
        assertEquals(0, counter("lost", "reason", reason));
      }
      assertEquals(0, counter("retries"));
      assertEquals(0, counter("retries.exhausted"));
      assertEquals(1, timed("hold", "background"));
      assertEquals(0, timed("hold", "foreground"));
      double held = registry.get("forelock.client.hold").tags("priority", "background").functionTimer()
          .totalTime(TimeUnit.NANOSECONDS);
      LockTimes times = client.times(LockType.BACKGROUND);
      assertTrue(held > 0 && held == times.holds().sum().toNanos(), () -> held + " and " + times);
      assertEquals(1, counter("hold.bucket", "priority", "background", "le", "3600.0"));
      assertEquals(1, counter("hold.bucket", "priority", "background", "le", "+Inf"));
      assertEquals(0, counter("hold.bucket", "priority", "foreground", "le", "+Inf"));
    }
  }

  @Test
  void noMonitorIsATag() {
    try (ForelockClient client = ForelockClient.builder().servers(SERVER.servers()).build()) {
      new ForelockMetrics(client).bindTo(registry);
      try (ZkBlockingWriteLock lock = new ZkBlockingWriteLock("Save", client, "Secret")) {
        lock.lock();
        lock.unlock();
      }
      for (Meter meter : registry.getMeters()) {
        assertFalse(meter.getId().toString().contains("Secret"), meter.getId().toString());
      }
    }
  }

  @Test
  void aQueueHasItsOwn(@TempDir Path directory) {
    Properties properties = new Properties();
    properties.setProperty("dlq.outbox.path", directory.resolve("outbox.db").toString());
    DeadLetterQueue queue = new DeadLetterQueue(properties);
    new DeadLetterMetrics(queue, Tags.of("queue", "main")).bindTo(registry);
    assertEquals(0, registry.get("forelock.dlq.outbox.rows").tag("queue", "main").gauge().value());
    assertEquals(0, registry.get("forelock.dlq.oldest.seconds").gauge().value());
    assertEquals(0, registry.get("forelock.dlq.accepted").functionCounter().count());
    queue.close();
    assertTrue(Double.isNaN(registry.get("forelock.dlq.outbox.rows").gauge().value()));
  }

  @Test
  void aClosedClientIsNotConnected() {
    ForelockClient client = ForelockClient.builder().servers(SERVER.servers()).build();
    new ForelockMetrics(client).bindTo(registry);
    client.close();
    assertEquals(0, registry.get("forelock.client.connected").gauge().value());
    for (Meter meter : registry.getMeters()) {
      meter.measure().forEach(measurement -> measurement.getValue());
    }
  }
}
