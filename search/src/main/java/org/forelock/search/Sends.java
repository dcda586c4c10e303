package org.forelock.search;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Records the parts of one write that a node has sent on, to recognise repeats: a cluster repeats them when a
 * connection breaks or a primary moves, and then an earlier attempt may have been done. Thread-safe.
 */
public final class Sends {
  /** The key in the thread context of requests from another node. */
  public static final String KEY = "_forelock_sends";

  private final Set<String> sent = ConcurrentHashMap.newKeySet();

  /** Whether it was sent before. An update is sent once, and the bulk that it becomes once more. */
  public boolean again(boolean update, Shard shard) {
    return !sent.add((update ? "update " : "bulk ") + shard);
  }
}
