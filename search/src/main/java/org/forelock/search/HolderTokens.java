package org.forelock.search;

import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.forelock.MonitorView;

/**
 * A HolderTokens looks at ZooKeeper for the present holders of locks. A look is a round trip of a thread that may wait;
 * a few are under way at a time. Thread-safe.
 */
public final class HolderTokens {
  private static final int MAX_LOOKS = 8;
  private static final int MAX_WAITING = 100_000;

  private final Function<String, Optional<MonitorView>> look;
  private final BoundedWork work;
  private final LongSupplier clock;

  /**
   * Makes it.
   *
   * @param look the holder of a monitor; may block
   * @param threads may block
   * @param clock in nanoseconds
   */
  public HolderTokens(Function<String, Optional<MonitorView>> look, Executor threads, LongSupplier clock) {
    this.look = look;
    this.work = new BoundedWork(threads, MAX_LOOKS, MAX_WAITING);
    this.clock = clock;
  }

  /**
   * Looks.
   *
   * @param deadline by the clock: not later
   * @param found called once, soon: with the holder, or null if there is none; or with a problem
   */
  public void of(String monitor, long deadline, BiConsumer<MonitorView, Exception> found) {
    boolean taken = work.offer(() -> {
      MonitorView holder = null;
      Exception problem = null;
      try {
        if (clock.getAsLong() - deadline > 0) {
          problem = Refusals.notLooked(monitor);
        } else {
          holder = look.apply(monitor).orElse(null);
        }
      } catch (RuntimeException failure) {
        problem = failure;
      }
      found.accept(holder, problem);
    });
    if (!taken) {
      found.accept(null, Refusals.notLooked(monitor));
    }
  }
}
