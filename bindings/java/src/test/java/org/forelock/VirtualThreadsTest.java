package org.forelock;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/**
 * Virtual threads that wait keep no carrier from others: in a JVM of its own that has a single carrier, a further
 * virtual thread runs while they wait.
 */
class VirtualThreadsTest {
  @Test
  void waitingThreadsPinNoCarrier() throws Exception {
    Assumptions.assumeTrue(starter() != null, "this JVM has no virtual threads");
    String tests = Path.of(VirtualThreadsTest.class.getProtectionDomain().getCodeSource().getLocation().toURI())
        .toString();
    Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-Djdk.virtualThreadScheduler.parallelism=1", "-Djdk.virtualThreadScheduler.maxPoolSize=1",
        "-Dforelock.server.host=" + System.getProperty("forelock.server.host"),
        "-cp", System.getProperty("forelock.classes") + ":" + tests, Probe.class.getName())
        .redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    process.waitFor();
    assertTrue(output.endsWith("passed\n"), output);
  }

  /** What the other JVM does. */
  public static final class Probe {
    /** More than can wait one after the other for the time that a native wait takes. */
    private static final int WAITING = 500;
    private static final Duration NATIVE_WAITS = Duration.ofMillis(20 * WAITING);
    private static final Duration MINUTE = Duration.ofMinutes(1);

    public static void main(String[] arguments) throws Exception {
      try (TestServer server = new TestServer();
          ForelockClient client = server.settings().set("zookeeper.session.timeout", "20000").build()) {
        client.waitConnected(Duration.ofSeconds(30));
        inQueues(client);
        inCallsThatBlock(server, client);
      }
      System.out.println("passed");
    }

    private static void inQueues(ForelockClient client) throws Exception {
      ZkBlockingWriteLock holder = new ZkBlockingWriteLock("holder", client, "pinned");
      holder.lock();
      run(() -> client.inspector().show("pinned")).get(30, TimeUnit.SECONDS); // loads the classes
      List<ZkBlockingWriteLock> locks = new ArrayList<>();
      List<CompletableFuture<Void>> ends = new ArrayList<>();
      for (int i = 0; i < WAITING; ++i) {
        ZkBlockingWriteLock lock = new ZkBlockingWriteLock("waiter", client, "pinned", LockType.BACKGROUND);
        locks.add(lock);
        ends.add(run(() -> lock.tryLock(MINUTE)));
      }
      runsAnother(NATIVE_WAITS.dividedBy(2));
      for (CompletableFuture<Void> end : ends) {
        check(!end.isDone(), "a waiting thread has ended");
      }
      for (ZkBlockingWriteLock lock : locks) {
        lock.close();
      }
      for (CompletableFuture<Void> end : ends) {
        end.get(1, TimeUnit.MINUTES);
      }
      holder.close();
    }

    /** The server is silent: these calls take as long as their time-outs. */
    private static void inCallsThatBlock(TestServer server, ForelockClient client) throws Exception {
      ZkBlockingWriteLock held = new ZkBlockingWriteLock("held", client, "silent");
      ZkBlockingWriteLock other = new ZkBlockingWriteLock("held", client, "silent-2");
      held.lock();
      other.lock();
      server.command("stall");
      List<CompletableFuture<Void>> ends = List.of(
          run(() -> client.inspector().show("silent")),
          run(() -> client.inspector().list(true)),
          run(() -> held.writeGuarded(List.of(WriteOperation.create("/silent", new byte[0])))),
          run(other::unlock));
      runsAnother(Duration.ofMinutes(1));
      for (CompletableFuture<Void> end : ends) {
        check(!end.isDone(), "a call to a silent server has ended");
      }
      server.command("flow");
      for (CompletableFuture<Void> end : ends) {
        end.get(1, TimeUnit.MINUTES);
      }
    }

    private static void runsAnother(Duration atMost) throws Exception {
      try {
        run(() -> { }).get(atMost.toMillis(), TimeUnit.MILLISECONDS);
      } catch (TimeoutException late) {
        throw new IllegalStateException("the carrier is pinned: another virtual thread has not run", late);
      }
    }

    private static CompletableFuture<Void> run(Runnable task) throws Exception {
      CompletableFuture<Void> end = new CompletableFuture<>();
      Runnable work = () -> {
        try {
          task.run();
        } catch (ForelockException problem) {
          // It has ended; how does not matter here.
        }
        end.complete(null);
      };
      try {
        starter().invoke(work);
      } catch (Throwable problem) {
        throw new IllegalStateException(problem);
      }
      return end;
    }

    private static void check(boolean condition, String problem) {
      if (!condition) {
        throw new IllegalStateException(problem);
      }
    }
  }

  private static java.lang.invoke.MethodHandle starter() {
    try {
      return MethodHandles.publicLookup().findStatic(Thread.class, "startVirtualThread",
          MethodType.methodType(Thread.class, Runnable.class));
    } catch (ReflectiveOperationException older) {
      return null;
    }
  }
}
