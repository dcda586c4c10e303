import java.time.Duration;
import org.forelock.ForelockClient;
import org.forelock.ZkBlockingWriteLock;

/** This library's Java package as a worker of the comparison: ForelockWorker SERVERS [health]. */
public final class ForelockWorker {
  public static void main(String[] arguments) throws Exception {
    try (ForelockClient client = ForelockClient.builder().servers(arguments[0])
        .set("zookeeper.session.timeout", "40000").set("zookeeper.foregound.task.timeout", "600000").build()) {
      client.waitConnected(Duration.ofSeconds(30));
      if (arguments.length > 1) {
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
      System.out.printf("{\"is_healthy_ns\":%.1f,\"lowest\":%.1f,\"nano_time_ns\":%.1f}%n", runs[runs.length / 2],
          runs[0], clock[clock.length / 2]);
    }
  }
}
