package org.forelock.search;

import java.util.List;
import org.forelock.LockType;

/** A LockSource makes locks. */
public interface LockSource {
  /**
   * Makes a lock.
   *
   * @param monitors 1 to {@link org.forelock.LockSet#MAX_MEMBERS}, in any order
   * @param fenced each acquisition has a token of its own; else it may get a lock that has lingered, with its token
   */
  DocumentLock lock(String info, List<String> monitors, LockType type, boolean fenced);

  /** Whether closed locks may stay with the node, to be taken again. */
  default boolean lingers() {
    return false;
  }
}
