package org.forelock;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.function.Executable;

/** What calls and futures end with, and states that are to come. */
final class Outcomes {
  private Outcomes() {}

  static <T> T soon(CompletableFuture<T> future) throws Exception {
    return future.get(30, TimeUnit.SECONDS);
  }

  static ErrorCode code(Executable call) {
    return assertThrows(ForelockException.class, call).code();
  }

  static ForelockException failure(CompletableFuture<?> future) {
    return (ForelockException) assertThrows(ExecutionException.class, () -> soon(future)).getCause();
  }

  static CompletableFuture<Void> inThread(Runnable work) {
    CompletableFuture<Void> result = new CompletableFuture<>();
    new Thread(() -> {
      try {
        work.run();
        result.complete(null);
      } catch (Throwable problem) {
        result.completeExceptionally(problem);
      }
    }).start();
    return result;
  }

  /** Nothing announces a state of another thread's lock. */
  static void awaitState(Supplier<LockState> lock, LockState state) {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    while (lock.get() != state) {
      assertTrue(System.nanoTime() < end, () -> "the lock is " + lock.get());
      Thread.onSpinWait();
    }
  }

  /** Its acquisition, which has its place. */
  static CompletableFuture<ZkBlockingWriteLock> queued(ZkBlockingWriteLock lock) throws Exception {
    CompletableFuture<QueuePosition> place = new CompletableFuture<>();
    lock.onQueued(place::complete);
    CompletableFuture<ZkBlockingWriteLock> acquisition = lock.acquireAsync(Duration.ofMinutes(1));
    soon(place);
    return acquisition;
  }
}
