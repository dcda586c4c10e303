package org.forelock.search;

import java.util.Locale;

/** The treatment of writes while no ZooKeeper server can be reached. */
public enum OnUnavailable {
  REJECT,
  ALLOW;

  /**
   * Reads the setting.
   *
   * @throws IllegalArgumentException if it is none
   */
  public static OnUnavailable parse(String text) {
    for (OnUnavailable value : values()) {
      if (value.name().toLowerCase(Locale.ROOT).equals(text)) {
        return value;
      }
    }
    throw new IllegalArgumentException("forelock.on_unavailable: '" + text + "' is invalid; write reject or allow");
  }
}
