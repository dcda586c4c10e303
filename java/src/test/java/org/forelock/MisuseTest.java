package org.forelock;

import static org.junit.jupiter.api.Assertions.assertNull;

import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.junit.jupiter.api.Test;

/** Random calls of several threads on random objects, closed ones and made-up handles included. */
class MisuseTest {
  private static final int THREADS = 4;
  private static final int PLACES = 32;

  private final AtomicReferenceArray<ForelockClient> clients = new AtomicReferenceArray<>(3);
  private final AtomicReferenceArray<ZkBlockingWriteLock> locks = new AtomicReferenceArray<>(PLACES);
  private final AtomicReferenceArray<LockSet> sets = new AtomicReferenceArray<>(PLACES);
  private final AtomicReference<Throwable> unexpected = new AtomicReference<>();

  @Test
  void isSurvived() throws Exception {
    long seed = Long.getLong("forelock.seed", System.nanoTime());
    System.out.println("misuse: seed " + seed);
    try (TestServer server = new TestServer()) {
      for (int i = 0; i < clients.length(); ++i) {
        clients.set(i, server.settings().build());
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
        thread.join();
      }
      for (int i = 0; i < clients.length(); ++i) {
        clients.get(i).close();
      }
    }
    assertNull(unexpected.get());
  }

  private void misuse(TestServer server, Random random) {
    try {
      call(server, random);
    } catch (ForelockException refused) {
      // Every misuse is answered like this.
    } catch (Throwable problem) {
      unexpected.compareAndSet(null, problem);
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
    Duration time = Duration.ofMillis(random.nextInt(30));
    long wild = random.nextLong();
    switch (what) {
      case 1:
        set.tryLock(time);
        break;
      case 2:
        set.tryLock();
        break;
      case 3:
        set.acquireAsync(time);
        break;
      case 4:
        set.tryLockAsync().cancel(true);
        break;
      case 5:
        set.unlock();
        break;
      case 6:
        set.unlockAsync();
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
        Native.setIsHealthy(wild);
        Native.setFree(wild);
        Native.setTokens(wild, new long[3]);
        break;
      case 12:
        Native.setAcquireWithin(client.core().handle, 0, random.nextBoolean(), 0, wild);
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
    if (random.nextInt(3) == 0) {
      callSet(random);
      return;
    }
    ForelockClient client = clients.get(random.nextInt(clients.length()));
    int place = random.nextInt(PLACES);
    ZkBlockingWriteLock lock = locks.get(place);
    long wild = random.nextLong();
    int what = random.nextInt(24);
    if (lock == null || what == 0) {
      LockType type = random.nextBoolean() ? LockType.FOREGROUND : LockType.BACKGROUND;
      locks.set(place, new ZkBlockingWriteLock("misuse", client, "m" + random.nextInt(6), type));
      return;
    }
    Duration time = Duration.ofMillis(random.nextInt(30));
    switch (what) {
      case 1:
        lock.tryLock(time);
        break;
      case 2:
        lock.tryLock();
        break;
      case 3:
        lock.acquireAsync(time);
        break;
      case 4:
        lock.acquireAsync(time).cancel(true);
        break;
      case 5:
        lock.unlock();
        break;
      case 6:
        lock.unlockAsync();
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
        client.inspector().show("m1");
        break;
      case 16:
        client.status();
        break;
      case 17:
        if (random.nextInt(40) == 0) {
          client.close();
          clients.set(random.nextInt(clients.length()), server.settings().build());
        }
        break;
      case 18:
        Native.lockIsHealthy(wild);
        Native.lockFree(wild);
        Native.viewFree(wild);
        Native.attemptSucceed(wild);
        break;
      case 19:
        Native.lockAcquireWithin(wild, 0, false, 0, wild);
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
