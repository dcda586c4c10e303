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
   * @param kept the monitors stay when they are unused: not to be said of names that clients make up
   */
  DocumentLock lock(String info, List<String> monitors, LockType type, boolean fenced, boolean kept);

  /** Makes a lock whose monitors go when they are unused. */
  default DocumentLock lock(String info, List<String> monitors, LockType type, boolean fenced) {
    return lock(info, monitors, type, fenced, false);
  }

  /** Whether closed locks may stay with the node, to be taken again. */
  default boolean lingers() {
    return false;
  }
}
