package org.forelock;

import static org.forelock.Outcomes.*;
import static org.junit.jupiter.api.Assertions.*;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
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
      OperationResult second = runner.run(new Operation("save", "op", LockType.BACKGROUND).id("one"), attempt -> {
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
          runner.runAsync(new Operation("save", "op", LockType.BACKGROUND), ForkJoinPool.commonPool(),
              attempt -> CompletableFuture.runAsync(attempt::checkHealth));
      assertTrue(async.get(30, TimeUnit.SECONDS).succeeded());
    }
  }

  @Test
  void anInterruptedCallerKeepsTheOperation() throws Exception {
    try (TestServer server = new TestServer(); ForelockClient client = server.client();
        DeadLetterQueue queue = queue(); OperationRunner runner = new OperationRunner(client, queue);
        ZkBlockingWriteLock holder = new ZkBlockingWriteLock("holder", client, "op")) {
      holder.lock();
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

  @Test
  void anAttemptKnowsItsLockAndHearsOfItsLoss() throws Exception {
    try (TestServer server = new TestServer(); ForelockClient client = server.client();
        DeadLetterQueue queue = queue();
        OperationRunner runner = new OperationRunner(client, queue,
            RunnerOptions.DEFAULT.waits(Duration.ofMillis(1), Duration.ofMillis(2)).retryBudget(5, 1000))) {
      CompletableFuture<LossReason> lost = new CompletableFuture<>();
      Operation operation = new Operation("save", "op", LockType.BACKGROUND).timeout(Duration.ofMinutes(1));
      OperationResult result = runner.run(operation, attempt -> {
        assertTrue(attempt.timeLeft().toMillis() > 0);
        assertTrue(attempt.expiresAtNanos() > System.nanoTime());
        attempt.alive(Duration.ofSeconds(3));
        assertEquals(Duration.ofSeconds(3), attempt.owner().expectedRuntime().orElseThrow());
        if (attempt.number() == 1) {
          attempt.onLost(lost::complete);
          Inspector inspector = client.inspector();
          inspector.forceRelease("op", inspector.show("op").orElseThrow().holderNode());
          assertEquals(LossReason.REMOVED, lost.get(30, TimeUnit.SECONDS));
        }
      });
      assertTrue(result.succeeded(), result.reason());
      assertEquals(List.of("lock_unhealthy"), result.failures());
    }
  }

  @Test
  void anOperationWhoseTimeIsUpIsNotTriedAgain() throws Exception {
    try (TestServer server = new TestServer(); ForelockClient client = server.client();
        DeadLetterQueue queue = queue(); OperationRunner runner = new OperationRunner(client, queue);
        ZkBlockingWriteLock holder = new ZkBlockingWriteLock("holder", client, "op")) {
      holder.lock();
      Operation operation = new Operation("save", "op", LockType.BACKGROUND).timeout(Duration.ofMillis(100));
      OperationResult result = runner.run(operation, attempt -> { });
      assertEquals("lock_timeout", result.reason());
      DeadLetterStatus status = queue.status();
      assertEquals(1, status.outboxRows());
      assertTrue(status.outboxBytes() > 0 && status.oldestAge().isPresent());
      assertFalse(status.forwarding());
      assertEquals("", status.lastProblem());
      assertEquals(0, status.delivered() + status.deliveryFailures());
    }
  }

  @Test
  void anExecutorThatThrowsEndsTheAttempt() throws Exception {
    try (TestServer server = new TestServer(); ForelockClient client = server.client();
        DeadLetterQueue queue = queue(); OperationRunner runner = new OperationRunner(client, queue)) {
      CompletableFuture<OperationResult> end = runner.runAsync(new Operation("save", "op", LockType.BACKGROUND),
          task -> {
            throw new AssertionError("a defect of the host");
          }, attempt -> CompletableFuture.completedFuture(null));
      assertEquals("handler_failed", end.get(30, TimeUnit.SECONDS).reason());
    }
  }

  @Test
  void anErrorOfTheHandlerLeavesTheOperationWithItsCaller() throws Exception {
    try (TestServer server = new TestServer(); ForelockClient client = server.client();
        DeadLetterQueue queue = queue(); OperationRunner runner = new OperationRunner(client, queue)) {
      Operation operation = new Operation("save", "op", LockType.BACKGROUND);
      AssertionError defect = new AssertionError("a defect of the handler");
      assertSame(defect, assertThrows(AssertionError.class, () -> runner.run(operation, attempt -> {
        throw defect;
      })));
      assertTrue(runner.run(operation, attempt -> { }).succeeded());
      runner.close();
      assertEquals(0, queue.accepted());
    }
  }

  @Test
  void noHandlerIsCalledOnceTheRunnerIsClosed() throws Exception {
    Operation operation = new Operation("save", "op", LockType.BACKGROUND);
    try (TestServer server = new TestServer(); ForelockClient client = server.client();
        DeadLetterQueue queue = queue()) {
      OperationRunner runner = new OperationRunner(client, queue);
      CompletableFuture<Runnable> task = new CompletableFuture<>();
      AtomicInteger calls = new AtomicInteger();
      CompletableFuture<OperationResult> end = runner.runAsync(operation, task::complete, attempt -> {
        calls.incrementAndGet();
        return CompletableFuture.completedFuture(null);
      });
      Runnable late = task.get(30, TimeUnit.SECONDS);
      runner.close();
      late.run();
      ExecutionException kept = assertThrows(ExecutionException.class, () -> end.get(30, TimeUnit.SECONDS));
      assertEquals(ErrorCode.CANCELLED, ((ForelockException) kept.getCause()).code());
      assertEquals(0, calls.get());
      assertEquals(0, queue.accepted());
    }
  }

  @Test
  void noHandlerIsCalledForAnAttemptThatIsFetchedOnceTheRunnerIsClosed() throws Exception {
    try (TestServer server = new TestServer(); ForelockClient client = server.client();
        ForelockClient other = server.client(); DeadLetterQueue queue = queue();
        ZkBlockingWriteLock holder = new ZkBlockingWriteLock("holder", other, "busy", LockType.BACKGROUND);
        ZkBlockingWriteLock waiter = new ZkBlockingWriteLock("waiter", client, "busy", LockType.BACKGROUND)) {
      OperationRunner runner = new OperationRunner(client, queue);
      // The thread that fetches the client's events is kept until the runner is closed.
      CompletableFuture<Void> closed = new CompletableFuture<>();
      CompletableFuture<Void> kept = new CompletableFuture<>();
      holder.lock();
      waiter.acquireAsync(Duration.ofMinutes(1), Runnable::run).thenRun(() -> {
        kept.complete(null);
        closed.join();
      });
      holder.unlock();
      kept.get(30, TimeUnit.SECONDS);
      AtomicInteger calls = new AtomicInteger();
      CompletableFuture<Void> end = inThread(() -> runner.run(
          new Operation("save", "op", LockType.BACKGROUND), attempt -> calls.incrementAndGet()));
      while (!other.inspector().show("op").map(MonitorView::held).orElse(false)) {
        assertFalse(end.isDone());
      }
      runner.close();
      closed.complete(null);
      ExecutionException problem = assertThrows(ExecutionException.class, () -> end.get(30, TimeUnit.SECONDS));
      assertEquals(ErrorCode.CANCELLED, ((ForelockException) problem.getCause()).code());
      assertEquals(0, calls.get());
    }
  }

  @Test
  void anOperationEndsThoughItsClientWasClosedMeanwhile() throws Exception {
    try (TestServer server = new TestServer(); ForelockClient client = server.client();
        DeadLetterQueue queue = queue(); OperationRunner runner = new OperationRunner(client, queue)) {
      CompletableFuture<OperationAttempt> begun = new CompletableFuture<>();
      CompletableFuture<Void> work = new CompletableFuture<>();
      CompletableFuture<OperationResult> end = runner.runAsync(
          new Operation("save", "other", LockType.BACKGROUND), Runnable::run, attempt -> {
            begun.complete(attempt);
            return work;
          });
      begun.get(30, TimeUnit.SECONDS);
      Operation operation = new Operation("save", "op", LockType.BACKGROUND).payload(new byte[] {1});
      RequestRejectedException kept = assertThrows(
          RequestRejectedException.class, () -> runner.run(operation, attempt -> client.close()));
      assertEquals(ErrorCode.CLOSED, kept.code());
      work.completeExceptionally(new OperationFailure("busy", "too late", false));
      assertEquals("busy", end.get(30, TimeUnit.SECONDS).reason());
      assertEquals(1, queue.accepted());
    }
  }

  /** Does nothing right. */
  private static final class Indescribable extends RuntimeException {
    private static final long serialVersionUID = 1L;

    @Override
    public String getMessage() {
      throw new IllegalStateException("a defect of the application");
    }

    @Override
    public String toString() {
      throw new IllegalStateException("another one");
    }
  }

  /** As {@link java.util.concurrent.CompletionException}s of the application may be. */
  private static final class WithoutCause extends java.util.concurrent.CompletionException {
    private static final long serialVersionUID = 1L;

    WithoutCause() {
      super("without a cause");
    }

    @Override
    public synchronized Throwable getCause() {
      throw new IllegalStateException("a defect of the application");
    }
  }

  @Test
  @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void anAttemptEndsHoweverItsFailureIsMade() throws Exception {
    assertThrows(NullPointerException.class, () -> new OperationFailure(null, "no code", true));
    List<Supplier<RuntimeException>> failures = List.of(
        Indescribable::new, WithoutCause::new, () -> new OperationFailure("", null, false),
        () -> new OperationFailure(null, "no code", true), () -> new OperationFailure("a\0b", "\0", false));
    try (TestServer server = new TestServer(); DeadLetterQueue queue = queue()) {
      ForelockClient client = server.client();
      OperationRunner runner = new OperationRunner(client, queue);
      Operation operation = new Operation("save", "op", LockType.BACKGROUND);
      for (Supplier<RuntimeException> failure : failures) {
        OperationResult result = runner.run(operation, attempt -> {
          throw failure.get();
        });
        assertEquals(failure == failures.get(4) ? "a_b" : "handler_failed", result.reason());
        CompletableFuture<OperationResult> thrown = runner.runAsync(operation, Runnable::run, attempt -> {
          throw failure.get();
        });
        assertEquals(result.reason(), thrown.get(30, TimeUnit.SECONDS).reason());
        CompletableFuture<OperationResult> failed = runner.runAsync(operation, Runnable::run, attempt -> {
          CompletableFuture<Void> stage = new CompletableFuture<>();
          try {
            stage.completeExceptionally(failure.get());
          } catch (NullPointerException problem) {
            stage.completeExceptionally(problem);
          }
          return stage;
        });
        assertEquals(result.reason(), failed.get(30, TimeUnit.SECONDS).reason());
      }
      client.close();
      runner.close();
    }
  }

  private DeadLetterQueue queue() {
    Properties properties = new Properties();
    properties.setProperty("dlq.outbox.path", folder.resolve("outbox.db").toString());
    return new DeadLetterQueue(properties);
  }
}
