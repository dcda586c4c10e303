import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.ExponentialBackoffRetry;

/** Curator's InterProcessMutex as a worker of the comparison: CuratorWorker SERVERS. */
public final class CuratorWorker {
  public static void main(String[] arguments) throws Exception {
    CuratorFramework client =
        CuratorFrameworkFactory.newClient(arguments[0], 40_000, 10_000, new ExponentialBackoffRetry(100, 3));
    client.start();
    client.blockUntilConnected();
    Worker.serve(monitor -> {
      InterProcessMutex mutex = new InterProcessMutex(client, "/curator/" + monitor);
      return new Worker.Mutex() {
        @Override
        public void acquire() throws Exception {
          mutex.acquire();
        }

        @Override
        public void release() throws Exception {
          mutex.release();
        }
      };
    });
    client.close();
  }
}
