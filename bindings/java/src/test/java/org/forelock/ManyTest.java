package org.forelock;

import static org.junit.jupiter.api.Assertions.*;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** Very many locks and threads: none needs a thread of its own. */
class ManyTest {
  private static final int COUNT = 10_000;

  @Test
  void tenThousandWaitWithoutThreadsAndAreCancelled() throws Exception {
    try (TestServer server = new TestServer();
        ForelockClient client = server.settings().set("zookeeper.session.timeout", "60000").build();
        ZkBlockingWriteLock holder = new ZkBlockingWriteLock("holder", client, "many")) {
      holder.lockWithTimeout();
      List<ZkBlockingWriteLock> locks = new ArrayList<>();
      List<CompletableFuture<ZkBlockingWriteLock>> waiting = new ArrayList<>();
      holder.asLock(); // loads the last class that is needed
      int threads = threads();
      long before = memory();
      for (int i = 0; i < COUNT; ++i) {
        ZkBlockingWriteLock lock = new ZkBlockingWriteLock("waiter", client, "many", LockType.BACKGROUND);
        locks.add(lock);
        waiting.add(lock.acquireAsync(Duration.ofMinutes(10)));
      }
      awaitWaiting(client, COUNT);
      long more = memory() - before;
      int moreThreads = threads() - threads;
      long begin = System.nanoTime();
      for (ZkBlockingWriteLock lock : locks) {
        lock.cancel();
      }
      for (CompletableFuture<ZkBlockingWriteLock> one : waiting) {
        ExecutionException end = assertThrows(ExecutionException.class, () -> one.get(1, TimeUnit.MINUTES));
        assertEquals(ErrorCode.CANCELLED, ((ForelockException) end.getCause()).code());
      }
      long milliseconds = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin);
      System.out.printf("%d waiting locks: %d KiB and %d threads more; cancelled in %d ms%n", COUNT, more / 1024,
          moreThreads, milliseconds);
      assertTrue(moreThreads <= 2, moreThreads + " threads more");
      assertTrue(more < 160L << 20, more / 1024 + " KiB more");
      for (ZkBlockingWriteLock lock : locks) {
        lock.close();
      }
    }
  }

  @Test
  void tenThousandSetsWaitWithoutThreadsAndAreCancelled() throws Exception {
    try (TestServer server = new TestServer();
        ForelockClient client = server.settings().set("zookeeper.session.timeout", "60000").build();
        LockSet holder = new LockSet("holder", client, List.of("many-1", "many-2"))) {
      holder.lock();
      List<LockSet> sets = new ArrayList<>();
      List<CompletableFuture<LockSet>> waiting = new ArrayList<>();
      int threads = threads();
      for (int i = 0; i < COUNT; ++i) {
        LockSet set = new LockSet("waiter", client, List.of("many-1", "many-2"), LockType.BACKGROUND);
        sets.add(set);
        waiting.add(set.acquireAsync(Duration.ofMinutes(10)));
      }
      awaitQueue(client, "many-1", COUNT);
      int moreThreads = threads() - threads;
      for (LockSet set : sets) {
        set.cancel();
      }
      for (CompletableFuture<LockSet> one : waiting) {
        ExecutionException end = assertThrows(ExecutionException.class, () -> one.get(1, TimeUnit.MINUTES));
        assertEquals(ErrorCode.CANCELLED, ((ForelockException) end.getCause()).code());
      }
      assertTrue(moreThreads <= 2, moreThreads + " threads more");
      assertTrue(holder.isHealthy());
      for (LockSet set : sets) {
        set.close();
      }
    }
  }

  @Test
  void tenThousandVirtualThreadsTakeTurns() throws Exception {
    ExecutorService virtual = virtualThreads();
    Assumptions.assumeTrue(virtual != null, "this JVM has no virtual threads");
    final int monitors = 500;
    try (TestServer server = new TestServer();
        // So many at once keep the server busy for seconds: a release is confirmed within the session's time-out.
        ForelockClient client = server.settings().set("zookeeper.foregound.task.timeout", "300000")
            .set("zookeeper.session.timeout", "60000").build()) {
      client.waitConnected(Duration.ofSeconds(30));
      int[] counts = new int[monitors];
      List<Future<?>> turns = new ArrayList<>();
      for (int i = 0; i < COUNT; ++i) {
        int monitor = i % monitors;
        turns.add(virtual.submit(() -> {
          try (ZkBlockingWriteLock lock = new ZkBlockingWriteLock("turn", client, "virtual-" + monitor)) {
            lock.lockWithTimeout();
            counts[monitor]++; // under the lock, and under nothing else
            lock.unlock();
          }
        }));
      }
      for (Future<?> turn : turns) {
        turn.get(5, TimeUnit.MINUTES);
      }
      for (int count : counts) {
        assertEquals(COUNT / monitors, count);
      }
    } finally {
      virtual.shutdown();
    }
  }

  /** Nothing announces that all are in the queue. */
  private static void awaitWaiting(ForelockClient client, long count) {
    long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(2);
    while (client.status().contenders() < count + 1) {
      assertTrue(System.nanoTime() < end, client.status().contenders() + " contenders");
      Thread.onSpinWait();
    }
  }

  private static void awaitQueue(ForelockClient client, String monitor, int count) {
    long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(2);
    for (int waiting = 0; waiting < count;) {
      assertTrue(System.nanoTime() < end, waiting + " wait; sessions expired: " + client.status().sessionsExpired());
      try {
        waiting = client.inspector().show(monitor).orElseThrow().queue().size();
      } catch (ConnectionLossException busy) {
        // The server has not answered in time: it has thousands of contenders to let in.
      }
    }
  }

  private static ExecutorService virtualThreads() {
    try {
      return (ExecutorService) MethodHandles.publicLookup()
          .findStatic(java.util.concurrent.Executors.class, "newVirtualThreadPerTaskExecutor",
              MethodType.methodType(ExecutorService.class))
          .invoke();
    } catch (Throwable older) {
      return null;
    }
  }

  private static int threads() throws IOException {
    try (java.util.stream.Stream<Path> tasks = Files.list(Path.of("/proc/self/task"))) {
      return (int) tasks.count();
    }
  }

  private static long memory() throws IOException {
    for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
      if (line.startsWith("VmRSS:")) {
        return Long.parseLong(line.replaceAll("[^0-9]", "")) * 1024;
      }
    }
    throw new IOException("no VmRSS");
  }
}
