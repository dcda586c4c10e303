package org.forelock.opensearch;

import org.forelock.LockType;

/** A LockSource makes locks. */
interface LockSource {
  DocumentLock lock(String info, String monitor, LockType type);
}
