package org.forelock.testkit;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A throw-away ZooKeeper for the tests of a class, by the command {@code forelock dev}, which ends with this JVM. An
 * extension of JUnit 5: {@code @RegisterExtension static final DevServer SERVER = new DevServer();}
 */
public final class DevServer implements BeforeAllCallback, AfterAllCallback {
  /** The system property that names the command; {@code forelock} of the PATH if it does not. */
  public static final String COMMAND = "forelock.command";

  private Process process;
  private String servers;

  /**
   * Its address, for {@code ForelockClient.builder().servers(…)}.
   *
   * @return host:port
   */
  public String servers() {
    return servers;
  }

  @Override
  public void beforeAll(ExtensionContext context) throws IOException {
    String command = System.getProperty(COMMAND, "forelock");
    // It ends with the command that it is given, and that one with the end of its input.
    process = new ProcessBuilder(command, "dev", "--", "sh", "-c", "echo \"$FORELOCK_ZOOKEEPER\"; exec cat")
        .redirectError(ProcessBuilder.Redirect.INHERIT).start();
    servers = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8)).readLine();
    if (servers == null) {
      throw new IllegalStateException("no ZooKeeper by " + command + " dev: see its message");
    }
  }

  @Override
  public void afterAll(ExtensionContext context) throws IOException, InterruptedException {
    if (process != null) {
      process.getOutputStream().close();
      process.waitFor();
    }
  }
}
