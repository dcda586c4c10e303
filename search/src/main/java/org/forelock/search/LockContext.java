package org.forelock.search;

import org.forelock.LockSet;
import org.forelock.ZkBlockingWriteLock;

/**
 * Says that what code of the node does is done under locks that it holds, as a client does by {@link Headers#HELD}. It
 * goes with the thread context: to whatever is begun meanwhile, on other threads and other nodes, too. Thread-safe.
 */
public interface LockContext {
  /**
   * What is begun by this thread from now on is written under these locks alone: without a lock of the node, with their
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

  /** Until it is closed. */
  interface Scope extends AutoCloseable {
    @Override
    void close();
  }
}
