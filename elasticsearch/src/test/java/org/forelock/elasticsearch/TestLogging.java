package org.forelock.elasticsearch;

import org.elasticsearch.common.logging.LogConfigurator;

/** What a node does before it loads its classes, some of which ask for a log at once. */
final class TestLogging {
  private TestLogging() {}

  static void begin() {
    LogConfigurator.configureESLogging();
  }
}
