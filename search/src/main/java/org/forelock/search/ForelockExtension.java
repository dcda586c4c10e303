package org.forelock.search;

import org.forelock.ForelockClient;

/**
 * A ForelockExtension is the part of another plugin that takes locks itself, in the node's session and with the native
 * library that is already loaded. It is named in {@code META-INF/services/org.forelock.search.ForelockExtension} of a
 * plugin whose descriptor has {@code extended.plugins=forelock}, and created with that plugin's object, or without an
 * argument, as its constructor requires.
 */
public interface ForelockExtension {
  /**
   * Called once, when the node starts, before it takes requests.
   *
   * @param client the node's. Thread-safe; it ends with the node, and {@link ForelockClient#close} is refused
   */
  void useForelock(ForelockClient client);

  /**
   * Called once, before {@link #useForelock}.
   *
   * @param context says under which locks of that client something is written. Thread-safe
   */
  default void useContext(LockContext context) {}
}
