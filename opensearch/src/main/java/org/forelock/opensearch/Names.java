package org.forelock.opensearch;

import java.util.Locale;

/** How constants are written in JSON, metrics and messages. */
final class Names {
  private Names() {}

  static String of(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }
}
