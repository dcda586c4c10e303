package org.forelock.search;

import java.lang.System.Logger.Level;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Logs the periods in which writes continue without their locks, because no ZooKeeper server is reached and the setting
 * permits it: the begin, the number of writes each minute, and the end. Thread-safe; never blocks.
 */
public final class UnguardedPeriods implements AutoCloseable {
  /** The time without such a write that ends a period, so that an unstable connection does not fill the log. */
  public static final long QUIET_NANOS = TimeUnit.SECONDS.toNanos(5);
  public static final long REMINDER_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final LongSupplier clock;
  private final BooleanSupplier over;
  private final BiConsumer<Level, String> log;
  private final Consumer<Runnable> soon;
  private boolean open;
  private long begun;
  private long last;
  private long told;
  private long writes;
  private long documents;

  /**
   * Without a period.
   *
   * @param over whether writes have their locks again, or are refused
   * @param soon runs a task in about a second; may drop it when the node ends
   */
  public UnguardedPeriods(
      LongSupplier clock, BooleanSupplier over, BiConsumer<Level, String> log, Consumer<Runnable> soon) {
    this.clock = clock;
    this.over = over;
    this.log = log;
    this.soon = soon;
  }

  /** One write goes on without its locks. */
  public void count(int itsDocuments) {
    synchronized (this) {
      last = clock.getAsLong();
      ++writes;
      documents += itsDocuments;
      if (open) {
        return;
      }
      open = true;
      begun = last;
      told = last;
      log.accept(Level.WARNING, "no ZooKeeper server is reached: writes into guarded indices go on WITHOUT A LOCK from "
          + "now on, as forelock.on_unavailable: allow has it; " + counted() + " so far");
    }
    soon.accept(this::look);
  }

  private void look() {
    synchronized (this) {
      if (!open) {
        return;
      }
      long now = clock.getAsLong();
      if (over.getAsBoolean() && now - last >= QUIET_NANOS) {
        end();
        return;
      }
      if (now - told >= REMINDER_NANOS) {
        told = now;
        log.accept(Level.WARNING, "writes into guarded indices go on without a lock for " + seconds(now - begun)
            + " s now; " + counted() + " so far");
      }
    }
    soon.accept(this::look);
  }

  private void end() {
    log.accept(Level.INFO, "no write goes on without a lock any more; " + counted() + " did, within "
        + seconds(last - begun) + " s");
    open = false;
    writes = 0;
    documents = 0;
  }

  private String counted() {
    return writes + (writes == 1 ? " request" : " requests") + " with " + documents
        + (documents == 1 ? " document" : " documents");
  }

  private static long seconds(long nanos) {
    return TimeUnit.NANOSECONDS.toSeconds(nanos);
  }

  /** A period ends with the node. */
  @Override
  public synchronized void close() {
    if (open) {
      end();
    }
  }
}
