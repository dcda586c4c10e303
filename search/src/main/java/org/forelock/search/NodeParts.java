package org.forelock.search;

import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The objects that the held writes of a node share. Each is thread-safe.
 *
 * @param limits what the settings permit
 * @param requests the held ones
 * @param source creates their locks
 * @param timeouts limits their waits
 * @param holders reads the holders of unavailable locks
 * @param tokens checks whether a client holds a lock itself
 * @param stats counts their outcomes
 * @param unguarded reports those that continue without a lock
 * @param threads on which they continue
 * @param id of the node
 * @param identity whether locks of the node exclude the others
 */
public record NodeParts(Limits limits, HeldRequests requests, LockSource source, Timeouts timeouts,
    HolderLook holders, HolderTokens tokens, Stats stats, UnguardedPeriods unguarded, Threads threads,
    Supplier<String> id, NodeIdentity identity) {
  /** Threads of the node for writes that were held. */
  public interface Threads {
    /**
     * Does something on a thread that may not block.
     *
     * @param failed is told what the task throws; what waits for a thread when the node closes is not told
     */
    void write(Runnable task, Consumer<Exception> failed);
  }
}
