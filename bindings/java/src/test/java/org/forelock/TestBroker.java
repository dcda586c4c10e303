package org.forelock;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;

/** A Kafka broker as a child process that asks for TLS and a password (tests/integration/broker_host.cc). */
final class TestBroker implements AutoCloseable {
  private final Process process;
  private final BufferedReader answers;
  private final String secured;
  private final String certificate;
  private final String user;
  private final String password;

  /** Whether its program is there: it needs what the dead-letter queue needs. */
  static boolean isPossible() {
    return !System.getProperty("forelock.broker.host", "").isEmpty() && Native.hasDeadLetters();
  }

  TestBroker() throws IOException {
    process = new ProcessBuilder(System.getProperty("forelock.broker.host"))
        .redirectError(ProcessBuilder.Redirect.INHERIT).start();
    answers = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    answers.readLine(); // without security
    secured = answers.readLine();
    certificate = answers.readLine();
    user = answers.readLine();
    password = answers.readLine();
    if (password == null) {
      throw new IOException("the broker does not start");
    }
  }

  /** Those of a queue that delivers to it. */
  Properties settings(Path outbox, String topic) {
    Properties properties = new Properties();
    properties.setProperty("dlq.outbox.path", outbox.toString());
    properties.setProperty("dlq.topic", topic);
    properties.setProperty("kafka.bootstrap.servers", secured);
    properties.setProperty("kafka.security.protocol", "SASL_SSL");
    properties.setProperty("kafka.ssl.ca.location", certificate);
    properties.setProperty("kafka.sasl.mechanism", "PLAIN");
    properties.setProperty("kafka.sasl.username", user);
    properties.setProperty("kafka.sasl.password.file", password);
    return properties;
  }

  void makeTopic(String name) throws IOException {
    write("topic " + name);
    if (!"ok".equals(answers.readLine())) {
      throw new IOException("the topic was not made");
    }
  }

  /** Key and id of each. */
  List<String> records(String topic) throws IOException {
    write("records " + topic);
    int count = Integer.parseInt(answers.readLine());
    List<String> records = new ArrayList<>();
    for (int i = 0; i < count; ++i) {
      records.add(answers.readLine());
    }
    return records;
  }

  private void write(String line) throws IOException {
    process.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
    process.getOutputStream().flush();
  }

  @Override
  public void close() throws IOException {
    process.getOutputStream().close();
    try {
      process.waitFor();
    } catch (InterruptedException interruption) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
