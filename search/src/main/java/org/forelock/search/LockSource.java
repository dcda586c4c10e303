package org.forelock.search;

import java.util.List;
import org.forelock.LockType;

/** A LockSource creates locks. */
public interface LockSource {
  /**
   * Makes a lock.
   *
   * @param monitors 1 to {@link org.forelock.LockSet#MAX_MEMBERS}, in any order
   * @param fenced each acquisition has a token of its own; else it may get a lock that has lingered, with its token
   * @param kept the monitors stay when they are unused: not for names that clients choose
   */
  DocumentLock lock(String info, List<String> monitors, LockType type, boolean fenced, boolean kept);

  /** Creates a lock whose monitors are removed when they are unused. */
  default DocumentLock lock(String info, List<String> monitors, LockType type, boolean fenced) {
    return lock(info, monitors, type, fenced, false);
  }

  /** Whether closed locks may stay with the node for later acquisitions. */
  default boolean lingers() {
    return false;
  }
}
