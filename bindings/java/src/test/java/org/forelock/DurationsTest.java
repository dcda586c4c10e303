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
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Whatever a duration is: less than nothing, nothing, less than a millisecond, or more than fits. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DurationsTest {
  private static final Duration LEAST = Duration.ofSeconds(Long.MIN_VALUE);
  private static final Duration MOST = Duration.ofSeconds(Long.MAX_VALUE, 999_999_999);
  private static final Duration TINY = Duration.ofNanos(1);
  /** -1 and -2 ms are no other than the rest, although the native library has a meaning for these numbers. */
  private static final List<Duration> NONE = List.of(Duration.ofMillis(-1), Duration.ofMillis(-2),
      Duration.ofNanos(-1_000_001), Duration.ofMinutes(-5), LEAST, Duration.ZERO);

  private static TestServer server;
  private static ForelockClient client;

  @TempDir
  Path folder;

  @BeforeAll
  static void start() {
    server = new TestServer();
    client = server.client();
  }

  @AfterAll
  static void stop() {
    client.close();
    server.close();
  }

  /** One that waits for minutes where nothing else is said. */
  private static ZkBlockingWriteLock lock(String monitor) {
    return new ZkBlockingWriteLock("test", client, "time-" + monitor, LockType.BACKGROUND);
  }

  private static LockSet set(String... monitors) {
    return new LockSet("test", client, List.of(monitors), LockType.BACKGROUND);
  }

  private static void isNotFree(CompletableFuture<?> future) {
    ExecutionException problem = assertThrows(ExecutionException.class, () -> soon(future));
    assertEquals(ErrorCode.LOCK_UNAVAILABLE, ((ForelockException) problem.getCause()).code());
  }

  @Test
  void areRoundedUpAndBounded() {
    for (Duration none : NONE) {
      assertEquals(0, Milliseconds.of(none), none::toString);
    }
    assertEquals(1, Milliseconds.of(TINY));
    assertEquals(1, Milliseconds.of(Duration.ofMillis(1)));
    assertEquals(2, Milliseconds.of(Duration.ofNanos(1_000_001)));
    assertEquals(Duration.ofDays(36_500).toMillis(), Milliseconds.of(MOST));
    assertEquals(Milliseconds.of(MOST), Milliseconds.of(Duration.ofMillis(Long.MAX_VALUE)));
  }

  @Test
  void noTimeIsNotWaited() throws Exception {
    try (ZkBlockingWriteLock holder = lock("held"); ZkBlockingWriteLock waiter = lock("held");
        LockSet set = set("time-held", "time-set")) {
      holder.lock();
      for (Duration none : NONE) {
        assertFalse(waiter.tryLock(none), none::toString);
        isNotFree(waiter.acquireAsync(none));
        isNotFree(waiter.acquireAsync(none, Runnable::run));
        assertFalse(set.tryLock(none), none::toString);
        isNotFree(set.acquireAsync(none));
        isNotFree(set.acquireAsync(none, Runnable::run));
      }
      assertFalse(waiter.tryLock(TINY));
      for (long time : new long[] {-1, -2, 0, 1, Long.MIN_VALUE}) {
        assertFalse(waiter.asLock().tryLock(time, TimeUnit.NANOSECONDS));
        assertFalse(waiter.asLock().tryLock(Math.min(time, 0), TimeUnit.DAYS));
      }
      holder.unlock();
      for (Duration none : NONE) {
        assertTrue(waiter.tryLock(none), none::toString);
        waiter.unlock();
        assertTrue(set.tryLock(none), none::toString);
        set.unlock();
        assertSame(waiter, soon(waiter.acquireAsync(none)));
        waiter.unlock();
      }
    }
  }

  @Test
  void asMuchTimeAsThereIsIsEnough() throws Exception {
    try (ZkBlockingWriteLock holder = lock("huge"); ZkBlockingWriteLock waiter = lock("huge");
        LockSet set = set("time-huge", "time-set-2")) {
      holder.lock();
      CompletableFuture<ZkBlockingWriteLock> waiting = waiter.acquireAsync(MOST);
      holder.unlock();
      assertSame(waiter, soon(waiting));
      assertTrue(waiter.stepAside(MOST));
      waiter.unlock();
      assertTrue(waiter.tryLock(MOST));
      waiter.unlock();
      assertTrue(waiter.asLock().tryLock(Long.MAX_VALUE, TimeUnit.DAYS));
      waiter.unlock();
      assertTrue(set.tryLock(MOST));
      assertTrue(set.stepAside(MOST));
      set.unlock();
      assertSame(set, soon(set.acquireAsync(MOST, Runnable::run)));
    }
  }

  @Test
  void whoStepsAsideWithoutTimeDoesNotWait() throws Exception {
    for (Duration none : NONE) {
      try (ZkBlockingWriteLock holder = lock("aside");
          ZkBlockingWriteLock next = new ZkBlockingWriteLock("test", client, "time-aside")) {
        CompletableFuture<LockType> contended = new CompletableFuture<>();
        holder.onContended(contended::complete);
        holder.lock();
        CompletableFuture<ZkBlockingWriteLock> waiting = next.acquireAsync(Duration.ofMinutes(1));
        soon(contended);
        assertFalse(holder.stepAside(none), none::toString);
        assertSame(next, soon(waiting));
      }
      try (LockSet holder = set("time-aside-1", "time-aside-2");
          ZkBlockingWriteLock next = new ZkBlockingWriteLock("test", client, "time-aside-2")) {
        CompletableFuture<LockType> contended = new CompletableFuture<>();
        holder.onContended((type, monitor) -> contended.complete(type));
        holder.lock();
        CompletableFuture<ZkBlockingWriteLock> waiting = next.acquireAsync(Duration.ofMinutes(1));
        soon(contended);
        assertFalse(holder.stepAside(none), none::toString);
        assertSame(next, soon(waiting));
      }
    }
  }

  @Test
  void aHolderMaySayAnyOfThem() {
    try (ZkBlockingWriteLock lock = lock("alive"); LockSet set = set("time-alive-1", "time-alive-2")) {
      lock.lock();
      set.lock();
      for (Duration none : NONE) {
        lock.alive(none);
        assertEquals(Duration.ZERO, lock.owner().expectedRuntime().orElseThrow());
        set.alive(none);
      }
      lock.alive(TINY);
      assertEquals(Duration.ofMillis(1), lock.owner().expectedRuntime().orElseThrow());
      lock.alive(MOST);
      set.alive(MOST);
      assertTrue(lock.owner().alertAt().orElseThrow().isAfter(Instant.now().plus(Duration.ofDays(36_000))));
      assertTrue(client.inspector().show("time-alive").orElseThrow().owner().orElseThrow().alertAt().isPresent());
    }
  }

  @Test
  void optionsRefuseWhatIsNegative() {
    LockOptions options = LockOptions.NONE;
    for (Duration none : NONE) {
      if (none.isZero()) {
        options.expectedRuntime(none).autoUnlockAfter(none);
        continue;
      }
      assertEquals(ErrorCode.INVALID_ARGUMENT, code(() -> options.expectedRuntime(none)));
      assertEquals(ErrorCode.INVALID_ARGUMENT, code(() -> options.autoUnlockAfter(none)));
      assertEquals(ErrorCode.INVALID_ARGUMENT, code(() -> RunnerOptions.DEFAULT.waits(none, TINY)));
      assertEquals(ErrorCode.INVALID_ARGUMENT, code(() -> RunnerOptions.DEFAULT.waits(TINY, none)));
    }
    assertEquals(1, options.expectedRuntime(TINY).expectedRuntimeMs, "zero would be: nothing is said");
    assertEquals(1, options.autoUnlockAfter(TINY).autoUnlockAfterMs);
    assertEquals(1, RunnerOptions.DEFAULT.waits(TINY, TINY).firstWaitMs, "zero would be: the default");
    LockOptions huge = options.expectedRuntime(MOST).autoUnlockAfter(MOST);
    try (ZkBlockingWriteLock lock = new ZkBlockingWriteLock("test", client, "time-options", LockType.BACKGROUND, huge);
        LockSet set = new LockSet("test", client, List.of("time-options-1"), LockType.BACKGROUND, huge)) {
      lock.lock();
      set.lock();
      OwnerRecord record = client.inspector().show("time-options").orElseThrow().owner().orElseThrow();
      assertTrue(record.alertAt().orElseThrow().isAfter(Instant.now()));
      assertTrue(record.autoUnlockAt().orElseThrow().isAfter(Instant.now()));
      lock.unlock();
      set.unlock();
    }
  }

  @Test
  void aMarginThatIsNoneOrTooMuchIsRefused() {
    try (ZkBlockingWriteLock lock = lock("danger"); LockSet set = set("time-danger-1", "time-danger-2")) {
      for (Duration none : NONE) {
        assertEquals(ErrorCode.INVALID_ARGUMENT, code(() -> lock.onDanger(none, () -> { })));
        assertEquals(ErrorCode.INVALID_ARGUMENT, code(() -> set.onDanger(none, () -> { })));
      }
      assertEquals(ErrorCode.INVALID_ARGUMENT, code(() -> lock.onDanger(MOST, () -> { })));
      assertEquals(ErrorCode.INVALID_ARGUMENT, code(() -> set.onDanger(MOST, () -> { })));
      lock.onDanger(TINY, () -> { });
      set.onDanger(TINY, () -> { });
    }
  }

  @Test
  void aConnectionIsWaitedForWithinThem() {
    for (Duration none : NONE) {
      client.waitConnected(none);
    }
    client.waitConnected(MOST);
    try (ForelockClient lonely = ForelockClient.builder().servers("127.0.0.1:1").build()) {
      for (Duration none : NONE) {
        assertEquals(ErrorCode.CONNECTION_LOSS, code(() -> lonely.waitConnected(none)));
      }
      assertEquals(ErrorCode.CONNECTION_LOSS, code(() -> lonely.waitConnected(TINY)));
    }
  }

  @Test
  void operationsAndLettersTakeThem() throws Exception {
    Properties properties = new Properties();
    properties.setProperty("dlq.outbox.path", folder.resolve("outbox.db").toString());
    Operation operation = new Operation("save", "time-op", LockType.BACKGROUND);
    try (DeadLetterQueue queue = new DeadLetterQueue(properties);
        OperationRunner runner = new OperationRunner(client, queue); ZkBlockingWriteLock holder = lock("op")) {
      assertTrue(runner.run(operation.timeout(MOST), attempt -> {
        attempt.alive(LEAST);
        attempt.alive(MOST);
      }).succeeded());
      holder.lock();
      for (Duration none : NONE) {
        assertFalse(ends(runner, operation.timeout(none)), none::toString);
      }
      holder.unlock();
      for (Duration waited : List.of(LEAST, Duration.ZERO, TINY, MOST)) {
        queue.accept(client, operation, List.of(new FailedAttempt(Instant.now(), "busy", "", waited)), 1);
        assertFalse(queue.flush(waited) && queue.outboxRows() > 0);
      }
    }
  }

  /** Whether it succeeds: one that could not be tried stays with the caller. */
  private static boolean ends(OperationRunner runner, Operation operation) {
    try {
      return runner.run(operation, attempt -> { }).succeeded();
    } catch (InstanceLockException problem) {
      assertEquals(ErrorCode.LOCK_TIMEOUT, problem.code());
      return false;
    }
  }
}
