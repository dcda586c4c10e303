package org.forelock.opensearch;

import java.util.List;
import org.forelock.LockType;

/** A LockSource makes locks. */
interface LockSource {
  /** @param monitors 1 to {@link org.forelock.LockSet#MAX_MEMBERS}, in any order */
  DocumentLock lock(String info, List<String> monitors, LockType type);
}
