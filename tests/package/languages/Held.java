import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import org.forelock.DeadLetterQueue;
import org.forelock.ForelockClient;
import org.forelock.ZkBlockingWriteLock;

/** Takes a lock, and opens a dead-letter queue, with whatever package this JVM has: Held FOLDER [SETTINGS-FILE]. */
public final class Held {
  public static void main(String[] arguments) throws IOException {
    Properties settings = new Properties();
    if (arguments.length > 1) {
      try (Reader file = Files.newBufferedReader(Path.of(arguments[1]))) {
        settings.load(file);
      }
    } else {
      settings.setProperty("zookeeper.servers", System.getenv("FORELOCK_ZOOKEEPER"));
    }
    settings.setProperty("dlq.outbox.path", Path.of(arguments[0], "java.db").toString());
    try (ForelockClient client = new ForelockClient(settings);
        ZkBlockingWriteLock lock = new ZkBlockingWriteLock("Held", client, "P1")) {
      lock.lockWithTimeout();
      System.out.println("held P1 with token " + lock.fencingToken());
      lock.unlock();
    }
    new DeadLetterQueue(settings).close();
    System.out.println("a queue of " + ForelockClient.version());
  }
}
