package org.forelock;

import static org.junit.jupiter.api.Assertions.*;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Random calls of several threads on random objects, closed ones and made-up handles included. Each call ends. */
class MisuseTest {
  private static final int THREADS = 4;
  private static final int PLACES = 32;

  private final AtomicReferenceArray<ForelockClient> clients = new AtomicReferenceArray<>(3);
  private final AtomicReferenceArray<ZkBlockingWriteLock> locks = new AtomicReferenceArray<>(PLACES);
  private final AtomicReferenceArray<LockSet> sets = new AtomicReferenceArray<>(PLACES);
  private final AtomicReferenceArray<DeadLetterQueue> queues = new AtomicReferenceArray<>(2);
  private final AtomicReferenceArray<OperationRunner> runners = new AtomicReferenceArray<>(3);
  /** What each is. */
  private final Map<CompletableFuture<?>, String> unfinished = new ConcurrentHashMap<>();
  private final AtomicLong calls = new AtomicLong();
  private final AtomicReference<Throwable> unexpected = new AtomicReference<>();
  private final ExecutorService workers = Executors.newFixedThreadPool(2);

  @TempDir
  Path folder;

  @Test
  void isSurvived() throws Exception {
    long seed = Long.getLong("forelock.seed", System.nanoTime());
    System.out.println("misuse: seed " + seed);
    try (TestServer server = new TestServer()) {
      for (int i = 0; i < clients.length(); ++i) {
        clients.set(i, client(server, i));
      }
      for (int i = 0; i < queues.length(); ++i) {
        queues.set(i, queue());
      }
      for (int i = 0; i < runners.length(); ++i) {
        runners.set(i, new OperationRunner(clients.get(i), queues.get(i % queues.length())));
      }
      long end = System.nanoTime() + Duration.ofSeconds(5L * Integer.getInteger("forelock.long", 1)).toNanos();
      Thread[] team = new Thread[THREADS];
      for (int t = 0; t < THREADS; ++t) {
        Random random = new Random(seed + t);
        team[t] = new Thread(() -> {
          while (System.nanoTime() < end && unexpected.get() == null) {
            misuse(server, random);
          }
        });
        team[t].start();
      }
      for (Thread thread : team) {
        thread.join(TimeUnit.NANOSECONDS.toMillis(Math.max(0, end - System.nanoTime())) + 60_000);
        assertFalse(thread.isAlive(), () -> "a call does not end: " + Arrays.toString(thread.getStackTrace()));
      }
      for (int i = 0; i < clients.length(); ++i) {
        clients.get(i).close();
      }
      for (int i = 0; i < runners.length(); ++i) {
        runners.get(i).close();
      }
      workers.shutdown();
      for (Map.Entry<CompletableFuture<?>, String> entry : unfinished.entrySet()) {
        assertDoesNotThrow(() -> entry.getKey().handle((result, problem) -> null).get(1, TimeUnit.MINUTES),
            () -> entry.getValue() + " does not end, of seed " + seed);
      }
    }
    System.out.println("misuse: " + calls + " calls");
    assertNull(unexpected.get());
  }

  /** Every second one lets its locks linger. */
  private static ForelockClient client(TestServer server, int number) {
    return server.settings().set("zookeeper.lock.linger", number % 2 == 0 ? "0" : "50")
        .set("elastic.request.retry.count", "2").build();
  }

  private DeadLetterQueue queue() {
    Properties properties = new Properties();
    properties.setProperty("dlq.outbox.path", folder.resolve("outbox.db").toString());
    return new DeadLetterQueue(properties);
  }

  private void misuse(TestServer server, Random random) {
    calls.incrementAndGet();
    try {
      switch (random.nextInt(6)) {
        case 0:
        case 1:
          callSet(random);
          break;
        case 2:
          callOperation(random);
          break;
        case 3:
          callView(random);
          break;
        default:
          call(server, random);
          break;
      }
    } catch (ForelockException | IllegalMonitorStateException refused) {
      // Every misuse is answered like this.
    } catch (Throwable problem) {
      unexpected.compareAndSet(null, problem);
    } finally {
      Thread.interrupted();
    }
  }

  private <T> CompletableFuture<T> ends(String what, CompletableFuture<T> future) {
    unfinished.put(future, what);
    future.whenComplete((result, problem) -> unfinished.remove(future));
    return future;
  }

  private void attempt(OperationAttempt attempt, Random random) {
    switch (random.nextInt(8)) {
      case 0:
        attempt.onLost(reason -> attempt.isHealthy());
        attempt.checkHealth();
        break;
      case 1:
        attempt.writeGuarded(List.of(WriteOperation.create("/misuse", new byte[random.nextInt(9)])));
        break;
      case 2:
        attempt.alive(Duration.ofMillis(random.nextInt(30)));
        attempt.owner();
        break;
      case 3:
        throw new OperationFailure("misuse", "on purpose", random.nextBoolean());
      case 4:
        throw new IllegalStateException("on purpose");
      case 5:
        if (random.nextInt(10) == 0) {
          runners.get(random.nextInt(runners.length())).close();
        }
        break;
      case 6:
        Thread.currentThread().interrupt();
        break;
      default:
        break;
    }
  }

  private void callOperation(Random random) {
    OperationRunner runner = runners.get(random.nextInt(runners.length()));
    DeadLetterQueue queue = queues.get(random.nextInt(queues.length()));
    LockType type = random.nextBoolean() ? LockType.FOREGROUND : LockType.BACKGROUND;
    Operation operation = new Operation("misuse", "m" + random.nextInt(8), type)
        .timeout(Duration.ofMillis(1 + random.nextInt(200))).payload(new byte[random.nextInt(100)]);
    long wild = random.nextLong();
    switch (random.nextInt(10)) {
      case 0:
        runner.run(operation, attempt -> attempt(attempt, random));
        break;
      case 1:
      case 2:
        Random own = new Random(wild);
        CompletableFuture<OperationResult> end = ends("an operation", runner.runAsync(operation, workers,
            attempt -> CompletableFuture.runAsync(() -> {
              try {
                attempt(attempt, own);
              } finally {
                Thread.interrupted();
              }
            }, workers)));
        if (random.nextBoolean()) {
          end.cancel(true);
        }
        break;
      case 3:
        Thread.currentThread().interrupt();
        runner.run(operation, attempt -> attempt(attempt, random));
        break;
      case 4:
        if (random.nextInt(10) == 0) {
          RunnerOptions options = RunnerOptions.DEFAULT.waits(Duration.ofMillis(1), Duration.ofMillis(5))
              .maxOperations(1 + random.nextInt(50)).retryBudget(1 + random.nextInt(100), 1000);
          runners.getAndSet(random.nextInt(runners.length()),
              new OperationRunner(clients.get(random.nextInt(clients.length())), queue, options)).close();
        }
        break;
      case 5:
        if (random.nextInt(5) == 0) {
          queue.accept(clients.get(random.nextInt(clients.length())), operation,
              List.of(new FailedAttempt(Instant.now(), "misuse", "on purpose", Duration.ofMillis(3))), 3);
        }
        break;
      case 6:
        queue.flush(Duration.ZERO);
        queue.status();
        break;
      case 7:
        if (random.nextInt(20) == 0) {
          queue.close();
          queues.set(random.nextInt(queues.length()), queue());
        }
        break;
      case 8:
        Native.operationCancel(wild);
        break;
      default:
        Native.attemptFail(wild, new byte[] {'m'}, new byte[0], random.nextBoolean());
        Native.operationFree(wild);
        break;
    }
  }

  private static void adapter(Lock lock, Duration time) {
    try {
      if (lock.tryLock(time.toMillis(), TimeUnit.MILLISECONDS)) {
        lock.unlock();
      }
      Thread.currentThread().interrupt();
      lock.lockInterruptibly();
    } catch (InterruptedException asWanted) {
      lock.tryLock();
    }
  }

  private void callView(Random random) {
    ForelockClient client = clients.get(random.nextInt(clients.length()));
    String monitor = "m" + random.nextInt(7);
    long wild = random.nextLong();
    switch (random.nextInt(8)) {
      case 0:
        client.inspector().list(random.nextBoolean());
        break;
      case 1:
        client.inspector().show(monitor).filter(MonitorView::held).ifPresent(view -> {
          if (random.nextInt(10) == 0) {
            client.inspector().forceRelease(monitor, view.holderNode());
          }
          client.inspector().lockSet(monitor, view.holderNode());
        });
        break;
      case 2:
        client.inspector().lockSet(monitor, monitor);
        break;
      case 3:
        client.waitConnected(Duration.ofMillis(random.nextInt(5)));
        client.status();
        break;
      case 4:
        Native.viewMonitor(wild, random.nextInt(), new long[20], new byte[20][]);
        break;
      case 5:
        Native.viewSetMembers(wild, new byte[1][], new long[1]);
        break;
      case 6:
        Native.inspectSet(client.core().handle, wild, random.nextInt(3) - 1, 100);
        break;
      default:
        Native.dlqFlush(wild, 0);
        Native.runnerFree(wild);
        Native.dlqFree(wild);
        break;
    }
  }

  private void callSet(Random random) {
    ForelockClient client = clients.get(random.nextInt(clients.length()));
    int place = random.nextInt(PLACES);
    LockSet set = sets.get(place);
    int what = random.nextInt(19);
    if (set == null || what == 0) {
      List<String> members = List.of("m" + random.nextInt(6), "m" + random.nextInt(6), "m" + random.nextInt(6));
      LockType type = random.nextBoolean() ? LockType.FOREGROUND : LockType.BACKGROUND;
      sets.set(place, new LockSet("misuse", client, members, type));
      return;
    }
    Duration time = Duration.ofMillis(random.nextInt(32) - 2);
    long wild = random.nextLong();
    switch (what) {
      case 1:
        set.tryLock(time);
        break;
      case 2:
        set.tryLock();
        break;
      case 3:
        ends("a set's acquisition", set.acquireAsync(time));
        break;
      case 4:
        set.tryLockAsync().cancel(true);
        break;
      case 5:
        set.unlock();
        break;
      case 6:
        ends("a set's release", set.unlockAsync());
        break;
      case 7:
        set.cancel();
        break;
      case 8:
        set.close();
        break;
      case 9:
        set.stepAside(time);
        break;
      case 10:
        set.onLost((reason, monitor) -> set.isHealthy());
        set.onContended((type, monitor) -> { });
        break;
      case 11:
        Native.lockIsHealthy(wild);
        Native.lockFree(wild);
        Native.setTokens(wild, new long[3]);
        break;
      case 12:
        if (random.nextBoolean()) {
          Native.lockSetStack(client.core().handle, new byte[] {1, 0, 10});
        } else {
          Native.lockAcquireWithin(client.core().handle, 0, 0, wild);
        }
        break;
      case 13:
        set.writeGuarded(List.of(WriteOperation.set("/misuse", new byte[0], random.nextInt(3))));
        break;
      case 14:
        set.alive(time);
        set.waitsFor();
        break;
      case 15:
        set.onDanger(Duration.ofMillis(random.nextInt(3000)), () -> { });
        Native.setWaitsFor(wild);
        break;
      default:
        set.isHealthy();
        set.fencingTokens();
        set.highestFencingToken();
        set.timeLeft();
        set.state();
        set.monitors();
        set.checkHealth();
        break;
    }
  }

  private void call(TestServer server, Random random) {
    ForelockClient client = clients.get(random.nextInt(clients.length()));
    int place = random.nextInt(PLACES);
    ZkBlockingWriteLock lock = locks.get(place);
    long wild = random.nextLong();
    int what = random.nextInt(24);
    Duration time = Duration.ofMillis(random.nextInt(32) - 2);
    if (lock == null || what == 0) {
      LockType type = random.nextBoolean() ? LockType.FOREGROUND : LockType.BACKGROUND;
      LockOptions options = LockOptions.NONE.captureStack(random.nextBoolean()).mayLinger(random.nextBoolean())
          .expectedRuntime(time);
      locks.set(place, new ZkBlockingWriteLock("misuse", client, "m" + random.nextInt(6), type, options));
      return;
    }
    switch (what) {
      case 1:
        Thread.currentThread().interrupt();
        lock.tryLock(time);
        break;
      case 2:
        lock.tryLock(time);
        break;
      case 3:
        lock.tryLock();
        ends("a lock's acquisition", lock.acquireAsync(time));
        break;
      case 4:
        lock.acquireAsync(time).cancel(true);
        int other = random.nextInt(PLACES);
        ends("what follows an acquisition at once", lock.acquireAsync(time, Runnable::run)
            .thenAccept(held -> locks.get(other).tryLock(time)));
        break;
      case 5:
        lock.unlock();
        break;
      case 6:
        ends("a lock's release", lock.unlockAsync());
        break;
      case 7:
        lock.cancel();
        break;
      case 8:
        lock.close();
        break;
      case 9:
        lock.stepAside(time);
        break;
      case 10:
        lock.writeGuarded(List.of(WriteOperation.set("/misuse", new byte[0], random.nextInt(3))));
        break;
      case 11:
        lock.onLost(reason -> lock.isHealthy());
        lock.onQueued(position -> { });
        break;
      case 12:
        lock.onDanger(Duration.ofMillis(random.nextInt(3000)), () -> { });
        break;
      case 13:
        lock.alive(time);
        break;
      case 14:
        lock.owner();
        break;
      case 15:
        adapter(lock.asLock(), time);
        break;
      case 16:
        client.status();
        break;
      case 17:
        if (random.nextInt(40) == 0) {
          client.close();
          clients.set(random.nextInt(clients.length()), client(server, random.nextInt(4)));
        }
        break;
      case 18:
        Native.lockIsHealthy(wild);
        Native.lockFree(wild);
        Native.viewFree(wild);
        Native.attemptSucceed(wild);
        break;
      case 19:
        Native.lockAcquireWithin(wild, 0, 0, wild);
        break;
      case 20:
        Native.lockCancel(client.core().handle);
        break;
      case 21:
        Native.viewCount(wild);
        break;
      default:
        lock.isHealthy();
        lock.fencingToken();
        lock.expiresAtNanos();
        lock.timeLeft();
        lock.state();
        lock.checkHealth();
        break;
    }
  }
}
