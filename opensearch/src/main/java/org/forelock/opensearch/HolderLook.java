package org.forelock.opensearch;

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
 * A HolderLook finds out which program holds a lock that was not obtained. That takes round trips, so it is done by
 * threads that may wait, and only by a few: beyond that the answer goes without. Thread-safe.
 */
final class HolderLook {
  private static final int MAX_LOOKS = 4;

  private final Supplier<Inspector> inspector;
  private final Executor threads;
  private final Semaphore looks = new Semaphore(MAX_LOOKS);

  HolderLook(Supplier<Inspector> inspector, Executor threads) {
    this.inspector = inspector;
    this.threads = threads;
  }

  /** @param told gets a sentence about the holder, or an empty text; called once */
  void tell(String monitor, Consumer<String> told) {
    if (!looks.tryAcquire()) {
      told.accept("");
      return;
    }
    try {
      threads.execute(() -> {
        String text = "";
        try {
          text = look(monitor);
        } finally {
          looks.release();
          told.accept(text);
        }
      });
    } catch (RejectedExecutionException closing) {
      looks.release();
      told.accept("");
    }
  }

  private String look(String monitor) {
    Optional<MonitorView> view;
    try {
      view = inspector.get().show(monitor);
    } catch (ForelockException unknown) {
      return "";
    }
    if (view.isEmpty() || !view.get().held()) {
      return "";
    }
    MonitorView held = view.get();
    String holder = held.owner().map(owner -> owner.instance() + " for \"" + owner.lockInfo() + "\"")
        .orElse("session " + LocksJson.hex(held.holderSession()));
    return "; it is held by " + holder + ", for " + held.heldFor().toMillis() + " ms";
  }
}
