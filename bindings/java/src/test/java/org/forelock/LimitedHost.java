package org.forelock;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;

/**
 * A process whose threads {@link ThreadLimitTest} limits: it answers "threads" with their number, a duration with
 * what comes of a client that waits so long. Argument: the server.
 */
final class LimitedHost {
  private LimitedHost() {}

  public static void main(String[] arguments) throws IOException {
    System.out.println(ProcessHandle.current().pid());
    BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = input.readLine(); line != null; line = input.readLine()) {
      System.out.println(line.equals("threads") ? threads() : open(arguments[0], Duration.parse(line)));
    }
  }

  private static Object open(String server, Duration patience) {
    try (ForelockClient client = ForelockClient.builder().servers(server).build();
        ZkBlockingWriteLock lock = new ZkBlockingWriteLock("limited", client, "limited")) {
      return lock.tryLock(patience) ? "held" : "not held";
    } catch (ForelockException problem) {
      return problem.code();
    } catch (OutOfMemoryError problem) {
      return ErrorCode.OUT_OF_MEMORY;
    }
  }

  private static long threads() throws IOException {
    try (Stream<Path> tasks = Files.list(Path.of("/proc/self/task"))) {
      return tasks.count();
    }
  }
}
