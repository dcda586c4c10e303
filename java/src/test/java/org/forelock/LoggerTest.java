package org.forelock;

import java.util.ResourceBundle;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Where the client's log lines go. */
class LoggerTest {
  /** Waits for a warning with a text in it. */
  private static final class Expectation implements System.Logger {
    private final String text;
    final CompletableFuture<String> met = new CompletableFuture<>();

    Expectation(String text) {
      this.text = text;
    }

    @Override
    public String getName() {
      return "test";
    }

    @Override
    public boolean isLoggable(Level level) {
      return true;
    }

    @Override
    public void log(Level level, ResourceBundle bundle, String message, Throwable thrown) {
      if (level == Level.WARNING && message.contains(text)) {
        met.complete(message);
      }
    }

    @Override
    public void log(Level level, ResourceBundle bundle, String format, Object... parameters) {
      log(level, bundle, format, (Throwable) null);
    }
  }

  @Test
  void aServerThatIsNotThereIsToldToTheLoggerOfTheClient() throws Exception {
    Expectation refused = new Expectation("127.0.0.1:1: Connection refused");
    try (ForelockClient ignored = ForelockClient.builder().servers("127.0.0.1:1").logger(refused).build()) {
      refused.met.get(30, TimeUnit.SECONDS);
    }
  }
}
