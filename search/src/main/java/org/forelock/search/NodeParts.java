package org.forelock.search;

import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * What the writes of a node have in common while they are held. Each is thread-safe.
 *
 * @param limits what the settings permit
 * @param requests those that are held
 * @param source makes their locks
 * @param timeouts how long they wait
 * @param holders finds out who keeps a lock from them
 * @param tokens finds out whether a client holds a lock itself
 * @param stats counts what becomes of them
 * @param unguarded tells of those that go on without a lock
 * @param threads on which they go on
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
