package org.forelock.search;

import java.util.List;
import org.forelock.FailedAttempt;

/** Letters accept writes that have used up their retries. Thread-safe. */
public interface Letters {
  /** The number of retries for a lock. */
  int retries();

  /**
   * Makes a write a dead letter. Blocks until it is durable.
   *
   * @param attempts the failed ones, oldest first
   * @return its id
   * @throws org.forelock.ForelockException if it is in no queue
   */
  String put(String monitor, String info, byte[] payload, List<FailedAttempt> attempts);
}
