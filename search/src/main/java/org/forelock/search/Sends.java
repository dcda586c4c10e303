package org.forelock.search;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What a node has sent on for one write, so that it knows what it sends again: a cluster does so where a connection
 * breaks or a primary moves, and then an earlier attempt may have been done. Thread-safe.
 */
public final class Sends {
  /** The key in the thread context of what came from another node. */
  public static final String KEY = "_forelock_sends";

  private final Set<String> sent = ConcurrentHashMap.newKeySet();

  /** Whether it was sent before. An update is sent once, and the bulk that it becomes once more. */
  public boolean again(boolean update, Shard shard) {
    return !sent.add((update ? "update " : "bulk ") + shard);
  }
}
