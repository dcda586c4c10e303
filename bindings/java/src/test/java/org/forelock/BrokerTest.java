package org.forelock;

import static org.junit.jupiter.api.Assertions.*;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Dead letters on their way to a real broker, over TLS and with a password. */
@Timeout(240)
class BrokerTest {
  private static final String TOPIC = "letters-of-java";

  @TempDir
  Path folder;

  @Test
  void deadLettersReachTheBroker() throws Exception {
    Assumptions.assumeTrue(TestBroker.isPossible(), "there is no broker, or no client of Kafka");
    try (TestBroker broker = new TestBroker(); TestServer server = new TestServer();
        ForelockClient client = server.client()) {
      broker.makeTopic(TOPIC);
      Properties settings = broker.settings(folder.resolve("outbox.db"), TOPIC);
      try (DeadLetterQueue queue = new DeadLetterQueue(settings);
          OperationRunner runner = new OperationRunner(client, queue, Duration.ofMillis(1), Duration.ofMillis(5))) {
        OperationResult result =
            runner.run(new Operation("save", "P1", LockType.FOREGROUND).id("one").payload(new byte[] {1}), attempt -> {
              throw new OperationFailure("busy", "always", false);
            });
        assertFalse(result.succeeded());
        assertEquals("two", queue.accept(client, new Operation("save", "P2", LockType.BACKGROUND).id("two"),
            List.of(new FailedAttempt(java.time.Instant.now(), "busy", "elsewhere", Duration.ZERO)), 1));
        assertTrue(queue.flush(Duration.ofMinutes(1)));
        assertEquals(2, queue.delivered());
        assertEquals(0, queue.outboxRows());
      }
      assertEquals(List.of("P1 one", "P2 two"), broker.records(TOPIC));
    }
  }

  @Test
  void aSecretMayComeFromTheProgram() throws Exception {
    Assumptions.assumeTrue(TestBroker.isPossible(), "there is no broker, or no client of Kafka");
    try (TestBroker broker = new TestBroker(); TestServer server = new TestServer();
        ForelockClient client = server.client()) {
      broker.makeTopic(TOPIC);
      Properties settings = broker.settings(folder.resolve("outbox.db"), TOPIC);
      String password = Files.readString(Path.of((String) settings.remove("kafka.sasl.password.file"))).strip();
      try (DeadLetterQueue queue = new DeadLetterQueue(settings, Map.of("kafka.sasl.password", password))) {
        queue.accept(client, new Operation("save", "P1", LockType.FOREGROUND).id("one"),
            List.of(new FailedAttempt(java.time.Instant.now(), "busy", "elsewhere", Duration.ZERO)), 1);
        assertTrue(queue.flush(Duration.ofMinutes(1)));
      }
      assertEquals(List.of("P1 one"), broker.records(TOPIC));
      settings.setProperty("kafka.sasl.password", password);
      ConfigurationException problem =
          assertThrows(ConfigurationException.class, () -> new DeadLetterQueue(settings));
      assertTrue(problem.getMessage().contains("is a secret"), problem.getMessage());
      assertFalse(problem.getMessage().contains(password), problem.getMessage());
    }
  }

  @Test
  void aSettingThatIsUnknownToTheClientOfKafkaIsNamed() {
    Assumptions.assumeTrue(Native.hasDeadLetters(), "there is no client of Kafka");
    Properties settings = new Properties();
    settings.setProperty("dlq.outbox.path", folder.resolve("outbox.db").toString());
    settings.setProperty("kafka.bootstrap.servers", "127.0.0.1:1");
    settings.setProperty("kafka.ssl.ca.locations", "/nowhere");
    ConfigurationException problem =
        assertThrows(ConfigurationException.class, () -> new DeadLetterQueue(settings));
    assertTrue(problem.getMessage().contains("kafka.ssl.ca.locations"), problem.getMessage());
  }
}
