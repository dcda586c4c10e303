package org.forelock.search;

import java.util.Map;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.forelock.ForelockException;
import org.forelock.Inspector;

/** Reads the state of locks for clients of this node, with bounded concurrency. Thread-safe; no method blocks. */
public final class Looks {
  /** Names of values in a question: one monitor with its queue; with all, those that nobody holds, too. */
  public static final String MONITOR = "monitor";
  public static final String ALL = "all";
  /** Name of the value in an answer that is no JSON. */
  public static final String TEXT = "text";

  /** The largest number of running and of waiting looks: each takes a thread for as long as ZooKeeper is silent. */
  static final int MOST = 4;
  static final int MOST_WAITING = 16;

  private final BoundedWork work;

  /** @param threads may block */
  public Looks(Executor threads) {
    this.work = new BoundedWork(threads, MOST, MOST_WAITING);
  }

  /**
   * Looks when it is its turn.
   *
   * @param look may block
   * @param then called once, with what was seen or the problem: a {@link Refusal}, if it is to be told as it is
   */
  public void ask(Supplier<Map<String, Object>> look, BiConsumer<Map<String, Object>, Exception> then) {
    boolean taken = work.offer(() -> {
      Map<String, Object> seen;
      try {
        seen = look.get();
      } catch (RuntimeException problem) {
        then.accept(null, problem instanceof ForelockException
            ? Refusals.notObtained((ForelockException) problem) : problem);
        return;
      }
      then.accept(seen, null);
    });
    if (!taken) {
      then.accept(null, Refusals.of(Refusals.TOO_MANY_REQUESTS, "overloaded", "",
          "so many look at the locks through this node that no more are taken; try again later"));
    }
  }

  /**
   * Reads the locks. Blocks.
   *
   * @throws Refusal if there is no such monitor
   */
  public static Map<String, Object> locks(Inspector inspector, Map<String, ?> question) {
    String monitor = (String) question.get(MONITOR);
    if (monitor == null) {
      return LocksJson.list(inspector.list(question.containsKey(ALL)));
    }
    return LocksJson.show(inspector.show(monitor).orElseThrow(() ->
        Refusals.of(Refusals.NOT_FOUND, "no_such_monitor", monitor, "there is no monitor " + monitor)));
  }
}
