package org.forelock;

import static org.junit.jupiter.api.Assertions.*;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A holder's JVM that stands still for longer than its session lives, as in a long pause of the machine. */
@Timeout(120)
class PauseTest {
  private static final String MONITOR = "paused";

  @Test
  void aStoppedHolderKnowsItWhenItWakes() throws Exception {
    try (TestServer server = new TestServer(); ForelockClient client = server.client();
        ZkBlockingWriteLock next = new ZkBlockingWriteLock("next", client, MONITOR)) {
      Process process = start(server.address());
      try (BufferedReader answers =
          new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
        long token = Long.parseLong(answers.readLine());
        assertEquals("true", ask(process, answers, "healthy"));
        assertFalse(next.tryLock());

        signal(process, "STOP");
        try {
          assertTrue(next.tryLock(Duration.ofMinutes(1)), "its session ends while it stands still");
          assertTrue(next.fencingToken() > token, next.fencingToken() + " follows " + token);
          write(process, "healthy"); // what it is asked first when it goes on
        } finally {
          signal(process, "CONT");
        }
        assertEquals("false", answers.readLine());
        assertEquals("LockUnhealthyException", ask(process, answers, "check"));
        String reason = ask(process, answers, "lost");
        assertTrue(List.of("DEADLINE_PASSED", "SESSION_EXPIRED").contains(reason), reason);
        String end = ask(process, answers, "unlock");
        assertTrue(List.of("NoNodeException", "SessionExpiredException").contains(end), end);

        next.checkHealth();
        MonitorView view = client.inspector().show(MONITOR).orElseThrow();
        assertEquals(client.status().sessionId(), view.holderSession(), "the lock is still the other's");
        assertEquals(next.fencingToken(), view.holderToken());
        next.unlock();
        process.getOutputStream().close();
        assertEquals(0, process.waitFor());
      } finally {
        process.destroyForcibly();
      }
    }
  }

  private static Process start(String server) throws IOException {
    return new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx64m",
        "-cp", System.getProperty("java.class.path") + java.io.File.pathSeparator
            + System.getProperty("forelock.classes") + java.io.File.pathSeparator
            + Path.of(System.getProperty("forelock.classes")).resolveSibling("test-classes"),
        PausedHolder.class.getName(), server, MONITOR).redirectError(ProcessBuilder.Redirect.INHERIT).start();
  }

  private static void signal(Process process, String name) throws Exception {
    assertEquals(0, new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start().waitFor());
  }

  private static void write(Process process, String line) throws IOException {
    process.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
    process.getOutputStream().flush();
  }

  private static String ask(Process process, BufferedReader answers, String question) throws IOException {
    write(process, question);
    return answers.readLine();
  }
}
