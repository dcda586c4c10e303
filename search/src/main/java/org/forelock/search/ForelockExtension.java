package org.forelock.search;

import org.forelock.ForelockClient;

/**
 * A ForelockExtension is that part of another plugin of the node which takes locks itself: in the session of the node,
 * with the native library that is loaded already. It is named in
 * {@code META-INF/services/org.forelock.search.ForelockExtension} of a plugin whose descriptor has
 * {@code extended.plugins=forelock}, and made with that plugin's object, or with nothing, as its constructor has it.
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
