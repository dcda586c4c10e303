package org.forelock.opensearch;

import java.util.HashMap;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.forelock.LockType;
import org.forelock.search.Names;
import org.forelock.search.Refusals;
import org.opensearch.ExceptionsHelper;
import org.opensearch.core.action.ActionListener;
import org.opensearch.core.rest.RestStatus;

/**
 * Says whether who sends a request may be foreground: the node's security decides it as it does for any action. Without
 * security everybody may. Thread-safe.
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
   * @param then called once, on any thread, with whether it is permitted, or why that is not known
   */
  void ask(BiConsumer<Boolean, Exception> then) {
    action.accept(new ActionListener<R>() {
      @Override
      public void onResponse(R nothing) {
        then.accept(true, null);
      }

      @Override
      public void onFailure(Exception problem) {
        boolean refused = ExceptionsHelper.status(problem) == RestStatus.FORBIDDEN;
        then.accept(false, refused ? null : problem);
      }
    });
  }

  /**
   * The wish for a lease, with the class that its client may have.
   *
   * @param then called once, on any thread, with the wish or with the reason for which it is refused
   */
  void within(Map<String, Object> lease, BiConsumer<Map<String, Object>, Exception> then) {
    Object wanted = lease.get("priority");
    String foreground = Names.of(LockType.FOREGROUND);
    if (wanted != null && !foreground.equals(wanted) || !isNeeded(LockType.FOREGROUND)) {
      then.accept(lease, null);
      return;
    }
    ask((permitted, problem) -> {
      if (permitted) {
        then.accept(lease, null);
      } else if (problem != null || wanted != null) {
        then.accept(null, problem != null ? problem : Refusals.foregroundNotPermitted());
      } else {
        Map<String, Object> behind = new HashMap<>(lease);
        behind.put("priority", Names.of(LockType.BACKGROUND));
        then.accept(behind, null);
      }
    });
  }
}
