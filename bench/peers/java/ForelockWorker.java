import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;
import org.forelock.ErrorCode;
import org.forelock.ForelockClient;
import org.forelock.ForelockException;
import org.forelock.LockType;
import org.forelock.ZkBlockingWriteLock;

/**
 * This library's Java package as a worker of the comparison: ForelockWorker SERVERS. With one of these behind it, it
 * measures something of its own instead: health, what isHealthy() costs; waiting, what 10,000 waiting locks need.
 */
public final class ForelockWorker {
  public static void main(String[] arguments) throws Exception {
    long emptyJvm = memory();
    try (ForelockClient client = ForelockClient.builder().servers(arguments[0])
        .set("zookeeper.session.timeout", "40000").set("zookeeper.foregound.task.timeout", "600000").build()) {
      client.waitConnected(Duration.ofSeconds(30));
      if (arguments.length > 1 && arguments[1].equals("waiting")) {
        waiting(client, emptyJvm);
      } else if (arguments.length > 1) {
        health(client);
      } else {
        Worker.serve(monitor -> new Lock(new ZkBlockingWriteLock("measure", client, monitor)));
      }
    }
  }

  private static final class Lock implements Worker.Mutex {
    private final ZkBlockingWriteLock lock;

    Lock(ZkBlockingWriteLock lock) {
      this.lock = lock;
    }

    @Override
    public void acquire() {
      lock.lock();
    }

    @Override
    public void release() {
      lock.unlock();
    }

    @Override
    public boolean isAsynchronous() {
      return true;
    }

    @Override
    public CompletableFuture<?> acquireAsync() {
      return lock.acquireAsync();
    }

    @Override
    public CompletableFuture<?> releaseAsync() {
      return lock.unlockAsync();
    }

    @Override
    public void close() {
      lock.close();
    }
  }

  /** What isHealthy() costs on a held lock, next to reading the clock. Runs are shorter than a time slice. */
  private static void health(ForelockClient client) {
    try (ZkBlockingWriteLock lock = new ZkBlockingWriteLock("measure", client, "health")) {
      lock.lock();
      final int calls = 20_000;
      double[] runs = new double[200];
      double[] clock = new double[runs.length];
      for (int warm = 0; warm < 2; ++warm) {
        for (int run = 0; run < runs.length; ++run) {
          long begin = System.nanoTime();
          int healthy = 0;
          for (int i = 0; i < calls; ++i) {
            healthy += lock.isHealthy() ? 1 : 0;
          }
          runs[run] = (System.nanoTime() - begin) / (double) calls;
          if (healthy != calls) {
            throw new IllegalStateException("the lock was not healthy all the time");
          }
          begin = System.nanoTime();
          long sum = 0;
          for (int i = 0; i < calls; ++i) {
            sum += System.nanoTime();
          }
          clock[run] = (System.nanoTime() - begin + (sum & 1)) / (double) calls;
        }
      }
      java.util.Arrays.sort(runs);
      java.util.Arrays.sort(clock);
      System.out.printf("{\"is_healthy_ns\":%.1f,\"lowest\":%.1f,\"nano_time_ns\":%.1f,\"lowest_nano_time\":%.1f}%n",
          runs[runs.length / 2], runs[0], clock[clock.length / 2], clock[0]);
    }
  }

  /** Memory beyond a JVM that has done nothing yet, threads, and how long a cancellation of all takes. */
  private static void waiting(ForelockClient client, long emptyJvm) throws Exception {
    final int count = 10_000;
    try (ZkBlockingWriteLock holder = new ZkBlockingWriteLock("holder", client, "waiting")) {
      holder.lock();
      CountDownLatch allWait = new CountDownLatch(1);
      int threads = threads();
      List<ZkBlockingWriteLock> locks = new ArrayList<>();
      List<CompletableFuture<ZkBlockingWriteLock>> ends = new ArrayList<>();
      for (int i = 0; i < count; ++i) {
        ZkBlockingWriteLock lock = new ZkBlockingWriteLock("waiter", client, "waiting", LockType.BACKGROUND);
        locks.add(lock);
        if (i == count - 1) {
          lock.onQueued(position -> allWait.countDown()); // requests keep their order: the others wait by then, too
        }
        ends.add(lock.acquireAsync(Duration.ofMinutes(30)));
      }
      allWait.await();
      int moreThreads = threads() - threads;
      long memory = memory() - emptyJvm;
      System.gc();
      long collected = memory() - emptyJvm;
      long begin = System.nanoTime();
      for (ZkBlockingWriteLock lock : locks) {
        lock.cancel();
      }
      int cancelled = 0;
      for (CompletableFuture<ZkBlockingWriteLock> end : ends) {
        try {
          end.get();
        } catch (ExecutionException problem) {
          cancelled += ((ForelockException) problem.getCause()).code() == ErrorCode.CANCELLED ? 1 : 0;
        }
      }
      long nanos = System.nanoTime() - begin;
      System.out.printf("{\"waiting\":%d,\"threads\":%d,\"memory_mb\":%.1f,\"memory_collected_mb\":%.1f,"
          + "\"cancelled\":%d,\"cancelled_ms\":%.0f}%n", count, moreThreads, memory / 1e6, collected / 1e6, cancelled,
          nanos / 1e6);
    }
  }

  private static int threads() throws IOException {
    try (Stream<Path> tasks = Files.list(Path.of("/proc/self/task"))) {
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
