package org.forelock.search;

import java.util.function.LongConsumer;

/** A CertaintySource asks the nodes that hold the locks of writes. Thread-safe. */
public interface CertaintySource {
  /** Whether this node holds them. */
  boolean isLocal(Guard guard);

  /**
   * Asks whether they are certain.
   *
   * @param shard into which is written
   * @param answer gets the nanoseconds for which they were certain when asked; 0 if there is no answer
   */
  void ask(Guard guard, Shard shard, LongConsumer answer);
}
