package org.forelock;

import static org.junit.jupiter.api.Assertions.*;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Whatever number of threads the host leaves: a client is refused, or waits for more; the JVM goes on. */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ThreadLimitTest {
  /** More than a client has, Java's and the native library's. */
  private static final int MOST = 18;
  private static final List<String> ENDS =
      List.of("OVERLOADED", "OUT_OF_MEMORY", "CONNECTION_LOSS", "not held", "held");
  /** Limits do not hold for root: a user that has nothing else. */
  private static final List<String> USER = List.of("setpriv", "--reuid=54321", "--regid=54321", "--clear-groups");

  @Test
  void aLimitEndsNoProcess() throws Exception {
    Assumptions.assumeTrue(isPossible("true"), "nobody else can be taken for");
    try (TestServer server = new TestServer()) {
      Process process = start(server.address());
      try (BufferedReader said =
          new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
        String pid = said.readLine();
        Assumptions.assumeTrue(pid != null, "that user cannot read the classes");
        for (int more = 0; more <= MOST; ++more) {
          limit(pid, Integer.parseInt(ask(process, said, "threads")) + more);
          String end = ask(process, said, "PT0.2S");
          assertTrue(end != null && ENDS.contains(end), end + " with room for " + more + " more threads");
        }
        limit(pid, 10_000);
        assertEquals("held", ask(process, said, "PT30S"));
        process.getOutputStream().close();
        assertEquals(0, process.waitFor());
      } finally {
        process.destroyForcibly();
      }
    }
  }

  private static Process start(String server) throws IOException {
    String classes = System.getProperty("java.class.path") + File.pathSeparator + System.getProperty("forelock.classes")
        + File.pathSeparator + Path.of(System.getProperty("forelock.classes")).resolveSibling("test-classes");
    return asUser(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx64m", "-Xlog:disable",
        "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", classes, LimitedHost.class.getName(), server)
        .redirectError(ProcessBuilder.Redirect.DISCARD).start();
  }

  private static ProcessBuilder asUser(String... command) {
    List<String> all = new ArrayList<>(USER);
    all.addAll(List.of(command));
    return new ProcessBuilder(all);
  }

  private static boolean isPossible(String command) throws InterruptedException {
    try {
      return asUser(command).start().waitFor() == 0;
    } catch (IOException noSuchProgram) {
      return false;
    }
  }

  private static void limit(String pid, int threads) throws Exception {
    assertEquals(0, asUser("prlimit", "--pid", pid, "--nproc=" + threads + ":").start().waitFor());
  }

  private static String ask(Process process, BufferedReader said, String question) throws IOException {
    process.getOutputStream().write((question + "\n").getBytes(StandardCharsets.UTF_8));
    process.getOutputStream().flush();
    return said.readLine();
  }
}
