package org.forelock.search;

import java.util.function.BiConsumer;
import org.forelock.LockSet;
import org.forelock.ZkBlockingWriteLock;

/**
 * Declares that work of the node's code is done under locks that it holds, as a client does by {@link Headers#HELD}.
 * The declaration travels with the thread context, to all work begun meanwhile, on other threads and nodes, too. The
 * library calls back on its own threads, which have no such context: {@link #here} carries it there. Thread-safe.
 */
public interface LockContext {
  /**
   * Writes begun by this thread from now on are done under these locks alone: without a lock of the node, with their
   * tokens where there is fencing, or not at all if they are not held.
   *
   * @param heldHeader of the lock or set, such as {@link ZkBlockingWriteLock#heldHeader()}
   * @return ends that; to be closed by the same thread. What has been begun goes on as it was
   * @throws IllegalArgumentException if it is invalid
   */
  Scope under(String heldHeader);

  /**
   * The same, of a lock.
   *
   * @param lock that is held
   * @return ends that
   * @throws IllegalStateException if it was never granted
   */
  default Scope under(ZkBlockingWriteLock lock) {
    return under(lock.heldHeader());
  }

  /**
   * The same, of a set.
   *
   * @param locks that are held
   * @return ends that
   * @throws IllegalStateException if it was never granted
   */
  default Scope under(LockSet locks) {
    return under(locks.heldHeader());
  }

  /**
   * Has the continuation of an acquisition go on in the thread context of now, with the user whose request it is and
   * all that goes with it: {@code lock.acquireAsync(timeout).whenComplete(context.here((held, problem) -> …))}.
   * Without it what is begun there is done for nobody, which a node with security refuses.
   *
   * @param <T> what is acquired
   * @param action is done with what was acquired, or with the reason why not
   * @return does that, in this context, on whatever thread
   */
  <T> BiConsumer<T, Throwable> here(BiConsumer<T, Throwable> action);

  /** Until it is closed. */
  interface Scope extends AutoCloseable {
    @Override
    void close();
  }
}
