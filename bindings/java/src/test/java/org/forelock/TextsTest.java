package org.forelock;

import static org.junit.jupiter.api.Assertions.*;

import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Texts that Java can have and UTF-8 cannot. */
class TextsTest {
  private static final String HALF = "\uD83D";
  private static final String WHOLE = "\uD83D\uDD12";

  @TempDir
  Path folder;

  private static ErrorCode code(org.junit.jupiter.api.function.Executable call) {
    return assertThrows(RequestRejectedException.class, call).code();
  }

  @Test
  void halfACharacterIsNoPartOfAnId() {
    try (TestServer server = new TestServer(); ForelockClient client = server.client()) {
      assertEquals(ErrorCode.INVALID_ARGUMENT, code(() -> new ZkBlockingWriteLock("case", client, "a" + HALF)));
      assertEquals(ErrorCode.INVALID_ARGUMENT, code(() -> new LockSet("case", client, List.of("a", HALF))));
      assertEquals(ErrorCode.INVALID_ARGUMENT, code(() -> LockSet.split(List.of("a", HALF))));
      assertEquals(ErrorCode.INVALID_ARGUMENT, code(() -> client.inspector().show(HALF)));
      Thread.currentThread().setName("main" + HALF + "\0");
      try (ZkBlockingWriteLock lock = new ZkBlockingWriteLock(WHOLE + HALF, client, WHOLE)) {
        lock.lock();
        assertEquals(WHOLE, client.inspector().list(false).get(0).monitor());
        assertEquals(WHOLE + "?", lock.owner().lockInfo(), "it is only told to people");
      }
    }
  }

  @Test
  void aFailureIsToldWhateverItsTextIs() {
    Properties properties = new Properties();
    properties.setProperty("dlq.outbox.path", folder.resolve("outbox.db").toString());
    properties.setProperty("host.application.key", HALF);
    try (TestServer server = new TestServer(); ForelockClient client = server.client();
        DeadLetterQueue queue = new DeadLetterQueue(properties);
        OperationRunner runner = new OperationRunner(client, queue)) {
      Operation operation = new Operation("save", "op", LockType.BACKGROUND);
      OperationResult result = runner.run(operation, attempt -> {
        throw new OperationFailure("busy", HALF + "\0", false);
      });
      assertEquals("busy", result.reason());
      assertTrue(queue.outboxRows() == 1);
      assertEquals(ErrorCode.INVALID_ARGUMENT,
          code(() -> runner.run(new Operation("save", HALF, LockType.BACKGROUND), attempt -> { })));
    }
  }
}
