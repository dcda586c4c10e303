package org.forelock.opensearch;

import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.forelock.ForelockException;
import org.forelock.Inspector;
import org.forelock.MonitorView;

/**
 * A HolderLook finds out which programs hold locks that were not obtained. That takes round trips, so it is done by
 * threads that may wait, only by a few, and for a few locks each: beyond that the answer goes without. Thread-safe.
 */
final class HolderLook {
  private static final int MAX_LOOKS = 4;
  private static final int MAX_MONITORS = 8;

  private final Supplier<Inspector> inspector;
  private final Executor threads;
  private final Semaphore looks = new Semaphore(MAX_LOOKS);

  HolderLook(Supplier<Inspector> inspector, Executor threads) {
    this.inspector = inspector;
    this.threads = threads;
  }

  /** @param told gets a sentence about the holder of each monitor for which there is one; called once */
  void tell(Collection<String> monitors, Consumer<Map<String, String>> told) {
    if (!looks.tryAcquire()) {
      told.accept(Map.of());
      return;
    }
    try {
      threads.execute(() -> {
        Map<String, String> holders = new HashMap<>();
        try {
          monitors.stream().limit(MAX_MONITORS).forEach(monitor -> look(monitor, holders));
        } finally {
          looks.release();
          told.accept(holders);
        }
      });
    } catch (RejectedExecutionException closing) {
      looks.release();
      told.accept(Map.of());
    }
  }

  private void look(String monitor, Map<String, String> holders) {
    Optional<MonitorView> view;
    try {
      view = inspector.get().show(monitor);
    } catch (ForelockException unknown) {
      return;
    }
    if (view.isEmpty() || !view.get().held()) {
      return;
    }
    MonitorView held = view.get();
    String holder = held.owner().map(owner -> owner.instance() + " for \"" + owner.lockInfo() + "\"")
        .orElse("session " + LocksJson.hex(held.holderSession()));
    holders.put(monitor, "; it is held by " + holder + ", for " + held.heldFor().toMillis() + " ms");
  }
}
