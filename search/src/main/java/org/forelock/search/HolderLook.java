package org.forelock.search;

import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.forelock.ForelockException;
import org.forelock.Inspector;
import org.forelock.MonitorView;

/**
 * A HolderLook reads the holders of locks that were not obtained. That takes round trips, more where many wait for a
 * lock, so a few threads that may wait do it, for a few locks each, and each result serves all requests of the next
 * second. An answer waits only shortly for it, and is then sent without. Thread-safe.
 */
public final class HolderLook {
  public static final long MAX_WAIT_MILLIS = 300;

  private static final int MAX_LOOKS = 4;
  private static final int MAX_MONITORS = 8;
  private static final int MAX_KNOWN = 1000;
  private static final long KNOWN_FOR_NANOS = 1_000_000_000;

  private final Function<String, String> look;
  private final Executor threads;
  private final BiConsumer<Long, Runnable> later;
  private final LongSupplier clock;
  private final Semaphore looks = new Semaphore(MAX_LOOKS);
  private final Map<String, Known> known = new LinkedHashMap<>();

  /**
   * Makes it.
   *
   * @param look a sentence about the holder of a monitor; empty: there is none, or it cannot be told
   * @param threads may wait
   * @param later does something after so many milliseconds
   * @param clock in nanoseconds
   */
  public HolderLook(
      Function<String, String> look, Executor threads, BiConsumer<Long, Runnable> later, LongSupplier clock) {
    this.look = look;
    this.threads = threads;
    this.later = later;
    this.clock = clock;
  }

  /** A look by an inspector. */
  public static Function<String, String> by(Supplier<Inspector> inspector) {
    return monitor -> {
      Optional<MonitorView> view;
      try {
        view = inspector.get().show(monitor);
      } catch (ForelockException unknown) {
        return "";
      }
      return view.filter(MonitorView::held).map(HolderLook::sentence).orElse("");
    };
  }

  private static String sentence(MonitorView held) {
    String holder = held.owner().map(owner -> owner.instance() + " for \"" + owner.lockInfo() + "\"")
        .orElse("session " + LocksJson.hex(held.holderSession()));
    return "; it is held by " + holder + ", for " + held.heldFor().toMillis() + " ms";
  }

  /** @param told gets a sentence about the holder of each monitor of which it is known; called once */
  public void tell(Collection<String> monitors, Consumer<Map<String, String>> told) {
    Map<String, CompletableFuture<String>> texts = new HashMap<>();
    monitors.stream().limit(MAX_MONITORS).forEach(monitor -> texts.put(monitor, textOf(monitor)));
    AtomicBoolean done = new AtomicBoolean();
    Runnable tell = () -> {
      if (done.compareAndSet(false, true)) {
        told.accept(found(texts));
      }
    };
    CompletableFuture<Void> all = CompletableFuture.allOf(texts.values().toArray(new CompletableFuture<?>[0]));
    if (!all.isDone()) {
      later.accept(MAX_WAIT_MILLIS, tell);
    }
    all.thenRun(tell);
  }

  private static Map<String, String> found(Map<String, CompletableFuture<String>> texts) {
    Map<String, String> found = new HashMap<>();
    texts.forEach((monitor, text) -> {
      if (!text.getNow("").isEmpty()) {
        found.put(monitor, text.join());
      }
    });
    return found;
  }

  private CompletableFuture<String> textOf(String monitor) {
    Known one;
    synchronized (known) {
      long now = clock.getAsLong();
      one = known.get(monitor);
      if (one != null && (!one.text.isDone() || now - one.since < KNOWN_FOR_NANOS)) {
        return one.text;
      }
      if (!looks.tryAcquire()) {
        return CompletableFuture.completedFuture("");
      }
      one = new Known(now);
      known.remove(monitor);
      known.put(monitor, one); // the last, so that the first is the oldest
      if (known.size() > MAX_KNOWN) {
        known.remove(known.keySet().iterator().next());
      }
    }
    begin(monitor, one.text);
    return one.text;
  }

  private void begin(String monitor, CompletableFuture<String> text) {
    try {
      threads.execute(() -> {
        String found = "";
        try {
          found = look.apply(monitor);
        } finally {
          looks.release();
          text.complete(found);
        }
      });
    } catch (RejectedExecutionException closing) {
      looks.release();
      text.complete("");
    }
  }

  private static final class Known {
    private final long since;
    private final CompletableFuture<String> text = new CompletableFuture<>();

    Known(long since) {
      this.since = since;
    }
  }
}
