package org.forelock.search;

import java.text.MessageFormat;
import java.util.ResourceBundle;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * Passes the library's log lines to the node's log, since the backend of {@code System.getLogger} in a node drops the
 * lines of plugins.
 */
public final class NodeLog implements System.Logger {
  private final Logger log = LogManager.getLogger("org.forelock");

  @Override
  public String getName() {
    return log.getName();
  }

  @Override
  public boolean isLoggable(Level level) {
    return log.isEnabled(level(level));
  }

  @Override
  public void log(Level level, ResourceBundle bundle, String message, Throwable thrown) {
    log.log(level(level), message, thrown);
  }

  @Override
  public void log(Level level, ResourceBundle bundle, String format, Object... parameters) {
    boolean plain = parameters == null || parameters.length == 0;
    log.log(level(level), plain ? format : MessageFormat.format(format, parameters));
  }

  private static org.apache.logging.log4j.Level level(Level level) {
    switch (level) {
      case ERROR:
        return org.apache.logging.log4j.Level.ERROR;
      case WARNING:
        return org.apache.logging.log4j.Level.WARN;
      case INFO:
        return org.apache.logging.log4j.Level.INFO;
      default:
        return org.apache.logging.log4j.Level.DEBUG;
    }
  }
}
