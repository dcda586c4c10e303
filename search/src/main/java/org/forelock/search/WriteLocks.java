package org.forelock.search;

import java.util.Collection;
import java.util.Map;
import java.util.function.Consumer;
import org.forelock.ForelockException;
import org.forelock.LockType;

/** The WriteLocks of one request are the locks under which it is done. Thread-safe; no method blocks. */
public interface WriteLocks extends Certainty {
  /** The result of {@link #nanosLeft} where no lock is held. */
  long NO_LOCK = Long.MAX_VALUE;

  /** The monitor to name where one stands for all. */
  String firstMonitor();

  boolean has(String monitor);

  /** Whether all of these are among those that are held. */
  boolean holds(Collection<String> wanted);

  /**
   * Begins to obtain them; to be called once.
   *
   * @param timeoutMillis 0: locks that are free at once
   * @param end called once, unless {@link #close()} comes first: with null when all are held except those that
   *     {@link #refused()} or {@link #notHeld()} name, else with the reason why none is. By a thread that must not be
   *     blocked
   * @param defect called instead with an exception that is no failure of the library: none is held then
   */
  void acquire(long timeoutMillis, Consumer<ForelockException> end, Consumer<Exception> defect);

  /** Has those that are waited for, now and later, be of this class. @return whether any is */
  default boolean prioritize(LockType type) {
    return false;
  }

  /** The monitors that others kept, each with the reason; null: there was no try left for it. */
  default Map<String, ForelockException> refused() {
    return Map.of();
  }

  /** The monitors of which the request says that it holds them, and does not, each with the answer. */
  default Map<String, Refusal> notHeld() {
    return Map.of();
  }

  /** The time for which all held locks are certain from now on; {@link #NO_LOCK}: none is held. */
  long nanosLeft();

  /** Releases the locks of this request, and cancels acquisitions under way, without waiting. Idempotent. */
  void close();

  @Override
  default boolean certain() {
    return nanosLeft() > 0;
  }
}
