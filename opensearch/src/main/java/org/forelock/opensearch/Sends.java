package org.forelock.opensearch;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.opensearch.core.index.shard.ShardId;

/**
 * What a node has sent on for one write, so that it knows what it sends again: OpenSearch does so where a connection
 * breaks or a primary moves, and then an earlier attempt may have been done. Thread-safe.
 */
final class Sends {
  /** The key in the thread context of what came from another node. */
  static final String KEY = "_forelock_sends";

  private final Set<String> sent = ConcurrentHashMap.newKeySet();

  /** Whether it was sent before. An update is sent once, and the bulk that it becomes once more. */
  boolean again(boolean update, ShardId shard) {
    return !sent.add((update ? "update " : "bulk ") + shard);
  }
}
