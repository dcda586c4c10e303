package org.forelock.opensearch;

import java.util.function.LongConsumer;
import org.opensearch.core.index.shard.ShardId;

/** A CertaintySource asks the nodes that hold the locks of writes. Thread-safe. */
interface CertaintySource {
  /** Whether this node holds them. */
  boolean isLocal(Guard guard);

  /**
   * Asks whether they are certain.
   *
   * @param shard into which is written
   * @param answer gets how many nanoseconds they were certain when they were asked; 0 if there is no answer
   */
  void ask(Guard guard, ShardId shard, LongConsumer answer);
}
