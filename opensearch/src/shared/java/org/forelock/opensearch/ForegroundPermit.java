package org.forelock.opensearch;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.forelock.LockType;
import org.forelock.search.LeaseRequest;
import org.forelock.search.Refusals;
import org.opensearch.ExceptionsHelper;
import org.opensearch.core.action.ActionListener;
import org.opensearch.core.rest.RestStatus;

/**
 * Decides whether the sender of a request may be foreground: the node's security decides it as for any action. Without
 * security every sender may. Thread-safe.
 *
 * @param <R> what the action answers
 */
final class ForegroundPermit<R> {
  /** The permission, and the name of the action, which does nothing. */
  static final String ACTION = "cluster:admin/forelock/foreground";

  private final ForelockSettings settings;
  private final Consumer<ActionListener<R>> action;

  ForegroundPermit(ForelockSettings settings, Consumer<ActionListener<R>> action) {
    this.settings = settings;
    this.action = action;
  }

  /** Whether it must be asked for. */
  boolean isNeeded(LockType type) {
    return type == LockType.FOREGROUND && settings.restrictsForeground();
  }

  /**
   * Asks, for the one whose context it is.
   *
   * @param then called once, on any thread, with whether it is permitted, or why that is not known. It must not throw:
   *     the node would take that for a failure of the action, to which nobody listens any more
   */
  void ask(BiConsumer<Boolean, Exception> then) {
    AtomicBoolean told = new AtomicBoolean();
    action.accept(new ActionListener<R>() {
      @Override
      public void onResponse(R nothing) {
        if (told.compareAndSet(false, true)) {
          then.accept(true, null);
        }
      }

      @Override
      public void onFailure(Exception problem) {
        if (told.compareAndSet(false, true)) {
          boolean refused = ExceptionsHelper.status(problem) == RestStatus.FORBIDDEN;
          then.accept(false, refused ? null : problem);
        }
      }
    });
  }

  /**
   * The wish for a lease, with the class that its client may have.
   *
   * @param then called once, on any thread, with the wish or with the reason for which it is refused; must not throw
   */
  void within(LeaseRequest lease, BiConsumer<LeaseRequest, Exception> then) {
    if (!isNeeded(lease.type())) {
      then.accept(lease, null);
      return;
    }
    ask((permitted, problem) -> {
      if (permitted) {
        then.accept(lease, null);
      } else if (problem != null || lease.named()) {
        then.accept(null, problem != null ? problem : Refusals.foregroundNotPermitted());
      } else {
        then.accept(lease.inBackground(), null);
      }
    });
  }
}
