package org.forelock.search;

import java.util.Locale;

/** The spelling of constants in JSON, metrics and messages. */
public final class Names {
  private Names() {}

  public static String of(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }
}
