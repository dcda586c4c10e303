package org.forelock;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;

/**
 * A holder in a process of its own, which {@link PauseTest} stops: it answers each line of its input with one line.
 * Arguments: the server, the monitor.
 */
final class PausedHolder {
  private PausedHolder() {}

  public static void main(String[] arguments) throws Exception {
    try (ForelockClient client = ForelockClient.builder().servers(arguments[0])
            .set("zookeeper.session.timeout", "4000").build();
        ZkBlockingWriteLock lock = new ZkBlockingWriteLock("paused", client, arguments[1])) {
      CompletableFuture<LossReason> lost = new CompletableFuture<>();
      lock.onLost(lost::complete);
      lock.lockWithTimeout();
      System.out.println(lock.fencingToken());
      BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
      for (String line = input.readLine(); line != null; line = input.readLine()) {
        System.out.println(answer(line, lock, lost));
      }
    }
  }

  private static Object answer(String question, ZkBlockingWriteLock lock, CompletableFuture<LossReason> lost)
      throws Exception {
    try {
      switch (question) {
        case "healthy":
          return lock.isHealthy();
        case "check":
          lock.checkHealth();
          return "healthy";
        case "lost":
          return lost.get();
        case "unlock":
          lock.unlock();
          return "unlocked";
        default:
          return "unknown: " + question;
      }
    } catch (ForelockException problem) {
      return problem.getClass().getSimpleName();
    }
  }
}
