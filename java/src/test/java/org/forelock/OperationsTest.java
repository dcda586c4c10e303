package org.forelock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OperationsTest {
  @TempDir
  Path folder;

  @Test
  void operationsSucceedAreTriedAgainOrDeadLettered() throws Exception {
    try (TestServer server = new TestServer(); ForelockClient client = server.client();
        DeadLetterQueue queue = queue();
        OperationRunner runner = new OperationRunner(client, queue, Duration.ofMillis(1), Duration.ofMillis(5))) {
      AtomicInteger calls = new AtomicInteger();
      OperationResult second = runner.run(new Operation("save", "op", LockType.FOREGROUND).id("one"), attempt -> {
        attempt.checkHealth();
        assertTrue(attempt.fencingToken() > 0);
        assertEquals(calls.incrementAndGet(), attempt.number());
        if (attempt.number() == 1) {
          throw new OperationFailure("busy", "once", true);
        }
      });
      assertTrue(second.succeeded());
      assertEquals("one", second.id());
      assertEquals(List.of("busy"), second.failures());

      OperationResult dead = runner.run(new Operation("save", "op", LockType.BACKGROUND).payload(new byte[] {0, 1}),
          attempt -> {
            throw new IllegalStateException("a defect");
          });
      assertFalse(dead.succeeded());
      assertEquals("handler_failed", dead.reason());
      assertEquals(1, queue.accepted());
      assertEquals(1, queue.outboxRows());

      CompletableFuture<OperationResult> async =
          runner.runAsync(new Operation("save", "op", LockType.FOREGROUND), ForkJoinPool.commonPool(),
              attempt -> CompletableFuture.runAsync(attempt::checkHealth));
      assertTrue(async.get(30, TimeUnit.SECONDS).succeeded());
    }
  }

  @Test
  void anInterruptedCallerKeepsTheOperation() throws Exception {
    try (TestServer server = new TestServer(); ForelockClient client = server.client();
        DeadLetterQueue queue = queue(); OperationRunner runner = new OperationRunner(client, queue);
        ZkBlockingWriteLock holder = new ZkBlockingWriteLock("holder", client, "op")) {
      holder.lockWithTimeout();
      CompletableFuture<Boolean> flag = new CompletableFuture<>();
      Thread thread = new Thread(() -> {
        InstanceLockException problem = assertThrows(InstanceLockException.class,
            () -> runner.run(new Operation("save", "op", LockType.BACKGROUND), attempt -> { }));
        flag.complete(problem.code() == ErrorCode.CANCELLED && Thread.currentThread().isInterrupted());
      });
      thread.start();
      thread.interrupt();
      assertTrue(flag.get(30, TimeUnit.SECONDS));
      assertEquals(0, queue.accepted());
    }
  }

  @Test
  void anOperationCanBeHandedToTheQueueItself() throws Exception {
    try (TestServer server = new TestServer(); ForelockClient client = server.client();
        DeadLetterQueue queue = queue()) {
      Operation operation = new Operation("save", "op", LockType.BACKGROUND).payload(new byte[] {(byte) 0xc3, 0, 1});
      FailedAttempt attempt =
          new FailedAttempt(Instant.now(), "lock_timeout", "held by others", Duration.ofMillis(7));
      String id = queue.accept(client, operation, List.of(attempt, attempt), 4);
      assertEquals(36, id.length());
      assertEquals("mine", queue.accept(client, operation.id("mine"), List.of(attempt), 1));
      assertEquals(2, queue.outboxRows());
      assertEquals(ErrorCode.INVALID_ARGUMENT,
          assertThrows(RequestRejectedException.class, () -> queue.accept(client, operation, List.of(), 1)).code());
      Operation large = operation.payload(new byte[(1 << 20) + 1]);
      assertEquals(ErrorCode.REQUEST_TOO_LARGE,
          assertThrows(RequestRejectedException.class, () -> queue.accept(client, large, List.of(attempt), 1)).code());
      assertEquals(2, queue.accepted());
    }
  }

  private DeadLetterQueue queue() {
    Properties properties = new Properties();
    properties.setProperty("dlq.outbox.path", folder.resolve("outbox.db").toString());
    return new DeadLetterQueue(properties);
  }
}
