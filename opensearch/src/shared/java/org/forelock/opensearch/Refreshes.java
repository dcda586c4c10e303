package org.forelock.opensearch;

import java.util.function.Consumer;
import org.opensearch.core.index.shard.ShardId;

/** Refreshes report when written documents can be found. Thread-safe; never blocks. */
interface Refreshes {
  /**
   * Waits until all copies of a shard show what has been written to it.
   *
   * @param shown called once, with whether one was refreshed because too many waited
   */
  void await(ShardId shard, Consumer<Boolean> shown);
}
