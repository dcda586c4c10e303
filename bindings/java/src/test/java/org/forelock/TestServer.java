package org.forelock;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** A ZooKeeper server as a child process, with faults on command (tests/support/server_host.cc). */
class TestServer implements AutoCloseable {
  /** One for all tests of a class: it ends with them. */
  static final class OfClass extends TestServer implements AfterAllCallback {
    @Override
    public void afterAll(ExtensionContext tests) {
      close();
    }
  }

  private final Process process;
  private final BufferedReader answers;
  private final String address;

  TestServer() {
    this(List.of());
  }

  TestServer(List<String> arguments) {
    List<String> command = new ArrayList<>(List.of(System.getProperty("forelock.server.host")));
    command.addAll(arguments);
    try {
      process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
      answers = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
      address = answers.readLine();
    } catch (IOException problem) {
      throw new UncheckedIOException(problem);
    }
    if (address == null) {
      throw new IllegalStateException("the server does not start");
    }
  }

  String address() {
    return address;
  }

  ForelockClient.Builder settings() {
    return ForelockClient.builder().servers(address).set("zookeeper.session.timeout", "4000")
        .set("zookeeper.foregound.task.timeout", "300").set("zookeeper.backgound.task.timeout", "60000");
  }

  ForelockClient client() {
    ForelockClient client = settings().build();
    client.waitConnected(java.time.Duration.ofSeconds(30));
    return client;
  }

  synchronized String ask(String command) {
    try {
      process.getOutputStream().write((command + "\n").getBytes(StandardCharsets.UTF_8));
      process.getOutputStream().flush();
      return answers.readLine();
    } catch (IOException problem) {
      throw new UncheckedIOException(problem);
    }
  }

  void command(String command) {
    String answer = ask(command);
    if (!"ok".equals(answer)) {
      throw new IllegalStateException(command + ": " + answer);
    }
  }

  @Override
  public void close() {
    try {
      process.getOutputStream().close();
      process.waitFor();
    } catch (IOException problem) {
      throw new UncheckedIOException(problem);
    } catch (InterruptedException interruption) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
