package org.forelock.search;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.forelock.HolderToken;
import org.forelock.Inspector;
import org.forelock.MonitorView;

/**
 * A HolderTokens checks whether a token is the one of a lock's current holder. An answer read lately and watched since
 * is known at once; otherwise it reads from ZooKeeper, a round trip on a thread that may wait, with a few under way at
 * a time. Thread-safe.
 */
public final class HolderTokens {
  private static final int MAX_LOOKS = 8;
  private static final int MAX_WAITING = 100_000;

  private final Source source;
  private final BoundedWork work;
  private final LongSupplier clock;

  /**
   * Makes it.
   *
   * @param threads may block
   * @param clock in nanoseconds
   */
  public HolderTokens(Source source, Executor threads, LongSupplier clock) {
    this.source = source;
    this.work = new BoundedWork(threads, MAX_LOOKS, MAX_WAITING);
    this.clock = clock;
  }

  /** The source of its answers. */
  public interface Source {
    /** Without a request; does not block. */
    Optional<HolderToken> known(String monitor, Duration maxAge);

    /** Blocks. */
    HolderToken read(String monitor);

    /** For a message; blocks. */
    Optional<MonitorView> holder(String monitor);
  }

  /** A source that reads by an inspector. */
  public static Source by(Supplier<Inspector> inspector) {
    return new Source() {
      @Override
      public Optional<HolderToken> known(String monitor, Duration maxAge) {
        return inspector.get().knownHolderToken(monitor, maxAge);
      }

      @Override
      public HolderToken read(String monitor) {
        return inspector.get().holderToken(monitor, Duration.ZERO);
      }

      @Override
      public Optional<MonitorView> holder(String monitor) {
        return inspector.get().holder(monitor);
      }
    };
  }

  /** The result of a look. */
  public static final class Seen {
    /** Whether the token is the holder's. */
    public final boolean isMeant;
    /** The time at which that began to be certain, by the clock. */
    public final long since;
    /** The holder if it is not; null: none. */
    public final MonitorView holder;

    private Seen(boolean isMeant, long since, MonitorView holder) {
      this.isMeant = isMeant;
      this.since = since;
      this.holder = holder;
    }
  }

  /**
   * Looks.
   *
   * @param token that of which the client says that it is the holder's
   * @param maxAge what was seen so lately, and is watched since, counts. Only that it is the holder's: one that was
   *     granted in this moment is not known yet
   * @param deadline by the clock: not later
   * @param found called once, soon, perhaps before this returns: with what was seen, or with a problem
   */
  public void of(String monitor, long token, Duration maxAge, long deadline, BiConsumer<Seen, Exception> found) {
    Seen known = known(monitor, token, maxAge);
    if (known != null) {
      found.accept(known, null);
      return;
    }
    boolean taken = work.offer(() -> {
      Seen seen = null;
      Exception problem = null;
      try {
        if (clock.getAsLong() - deadline > 0) {
          problem = Refusals.notLooked(monitor);
        } else {
          seen = look(monitor, token);
        }
      } catch (RuntimeException failure) {
        problem = failure;
      }
      found.accept(seen, problem);
    });
    if (!taken) {
      found.accept(null, Refusals.notLooked(monitor));
    }
  }

  private Seen known(String monitor, long token, Duration maxAge) {
    if (maxAge.isZero()) {
      return null;
    }
    try {
      long now = clock.getAsLong();
      return source.known(monitor, maxAge).filter(one -> one.token() == token).map(one -> meant(one, now)).orElse(null);
    } catch (RuntimeException unknown) {
      return null; // a look says why
    }
  }

  private Seen look(String monitor, long token) {
    long begun = clock.getAsLong();
    HolderToken read = source.read(monitor);
    if (read.token() == token) {
      return new Seen(true, begun, null);
    }
    begun = clock.getAsLong();
    MonitorView holder = source.holder(monitor).orElse(null);
    return new Seen(holder != null && holder.holderToken() == token, begun, holder);
  }

  /** @param now by the clock, from before it was asked for: a pause since makes nothing younger */
  private static Seen meant(HolderToken token, long now) {
    return new Seen(true, now - token.age().toNanos(), null);
  }
}
