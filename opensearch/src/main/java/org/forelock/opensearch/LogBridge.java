package org.forelock.opensearch;

import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.apache.logging.log4j.LogManager;

/** Hands the library's log lines to the node's log. */
final class LogBridge extends Handler {
  private static final Logger SOURCE = Logger.getLogger("org.forelock"); // kept: else it is garbage, with its handlers

  private final org.apache.logging.log4j.Logger log = LogManager.getLogger("org.forelock");

  private LogBridge() {}

  static void install() {
    LockService.privileged(() -> {
      for (Handler handler : SOURCE.getHandlers()) {
        SOURCE.removeHandler(handler);
      }
      SOURCE.setUseParentHandlers(false);
      SOURCE.addHandler(new LogBridge());
      return null;
    });
  }

  @Override
  public void publish(LogRecord line) {
    int level = line.getLevel().intValue();
    if (level >= Level.SEVERE.intValue()) {
      log.error(line.getMessage(), line.getThrown());
    } else if (level >= Level.WARNING.intValue()) {
      log.warn(line.getMessage(), line.getThrown());
    } else if (level >= Level.INFO.intValue()) {
      log.info(line.getMessage(), line.getThrown());
    } else {
      log.debug(line.getMessage(), line.getThrown());
    }
  }

  @Override
  public void flush() {}

  @Override
  public void close() {}
}
