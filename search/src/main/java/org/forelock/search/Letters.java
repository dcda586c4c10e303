package org.forelock.search;

import java.util.List;
import org.forelock.FailedAttempt;

/** Letters take writes that ran out of retries. Thread-safe. */
public interface Letters {
  /** How often a lock is tried again. */
  int retries();

  /**
   * Makes a write a dead letter. Blocks until it is durable.
   *
   * @param attempts those that failed, oldest first
   * @return its id
   * @throws org.forelock.ForelockException if it is in no queue
   */
  String put(String monitor, String info, byte[] payload, List<FailedAttempt> attempts);
}
