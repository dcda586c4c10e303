package org.forelock;

import static org.junit.jupiter.api.Assertions.*;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is printed says what it is. */
class TextsOfValuesTest {
  @TempDir
  Path folder;

  private static void assertText(String expected, Object value) {
    assertTrue(value.toString().matches("(?s).*" + expected + ".*"), expected + " in " + value);
  }

  @Test
  void valuesSayWhatIsInThem() {
    Properties properties = new Properties();
    properties.setProperty("dlq.outbox.path", folder.resolve("outbox.db").toString());
    try (TestServer server = new TestServer(); ForelockClient client = server.client();
        DeadLetterQueue queue = new DeadLetterQueue(properties);
        OperationRunner runner = new OperationRunner(client, queue);
        ZkBlockingWriteLock holder = new ZkBlockingWriteLock("Save Content", client, "text");
        LockSet set = new LockSet("Bulk", client, List.of("other", "text"), LockType.BACKGROUND)) {
      holder.lock();
      assertText("connected, session 0x[0-9a-f]+ of 4000 ms, granted 1, refused 0, lost 0", client.status());
      assertText("/.* for \"Save Content\" \\(foreground\\)", holder.owner());
      set.acquireAsync(Duration.ofMinutes(1));
      while (set.waitsFor().isEmpty()) {
        Thread.onSpinWait();
      }
      MonitorView view = client.inspector().show("text").orElseThrow();
      assertText("MonitorView\\(text, held for \\d+ ms, token " + holder.fencingToken()
          + ", by .* for \"Save Content\" \\(foreground\\) since 20.*, 1 waiting\\)", view);
      assertText("WaiterView\\(1, B-\\d+, behind .*, waits for \\d+ ms, .* for \"Bulk\" \\(background\\)\\)",
          view.queue().get(0));
      assertText("of 2 held, waits for text, held by .* for \"Save Content\"",
          client.inspector().lockSet("text", view.queue().get(0).node()).orElseThrow());
      Operation operation = new Operation("save", "op", LockType.BACKGROUND);
      assertText("OperationResult\\(.+, succeeded\\)", runner.run(operation, attempt -> { }));
      assertText("dead-lettered: busy, failures \\[busy\\]", runner.run(operation, attempt -> {
        throw new OperationFailure("busy", "too much", false);
      }));
      assertText("DeadLetterStatus\\(1 in the outbox, \\d+ bytes, .*accepted 1, delivered 0", queue.status());
      assertText("busy, waited for 5 ms: too much",
          new FailedAttempt(Instant.now(), "busy", "too much", Duration.ofMillis(5)));
    }
  }

  @Test
  void aStackTraceHasTheHint() {
    StringWriter trace = new StringWriter();
    new InstanceLockException(ErrorCode.LOCK_TIMEOUT, "P1", "not obtained", "forelock show P1")
        .printStackTrace(new PrintWriter(trace, true));
    assertEquals("org.forelock.InstanceLockException: not obtained [hint: forelock show P1]",
        trace.toString().lines().findFirst().orElseThrow());
    assertEquals("org.forelock.ForelockException: text",
        new ForelockException(ErrorCode.INTERNAL, "", "text", "").toString());
  }

  @Test
  void failuresCanBeMadeByTheTestsOfAProgram() {
    for (ErrorCode code : ErrorCode.values()) {
      ForelockException failure = ForelockException.of(code, "P1", "held by another client");
      assertEquals(code, failure.code());
      assertEquals("P1", failure.monitor());
    }
    assertInstanceOf(InstanceLockException.class, ForelockException.of(ErrorCode.LOCK_TIMEOUT, "P1", ""));
    assertInstanceOf(LockUnhealthyException.class, ForelockException.of(ErrorCode.LOCK_UNHEALTHY, "P1", ""));
  }
}
