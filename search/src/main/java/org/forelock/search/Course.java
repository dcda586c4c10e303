package org.forelock.search;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.forelock.ForelockException;
import org.forelock.LockType;

/**
 * The processing of one write that needs locks: it is held until they are granted, and then done under them, or
 * refused. Thread-safe; no thread ever waits.
 */
public final class Course {
  /** The write, as the search engine has it. */
  public interface Write {
    /**
     * Goes on with it.
     *
     * @param name of what is handed on with it, {@link Headers#GUARD} or {@link Headers#UPDATE_GUARD}
     * @param before is done before the client is answered; gets the problem, or null
     * @param after is done when the client has been
     */
    void proceed(String name, Guard guard, Consumer<Exception> before, Consumer<Exception> after);

    /** Answers it with a failure, and nothing is done. */
    void fail(Exception problem);

    /** Those of its items whose monitors others keep; it is a shard's part of a bulk. */
    Items kept(Map<String, Refusal> refusals);

    /** Whether its client demands a refusal instead of a write without a lock. */
    boolean requiresLock();

    /** Reports to its client, if the client has asked for it. */
    void report(long waitedMillis, long token);

    /** Tells its client when to send again what is refused. */
    void tryAgainLater();

    /** Defers the wait for its refresh until the locks are released. */
    void awaitRefreshLater();

    /** Runs something when its client goes, if that is watched. @return ends that */
    Runnable whenClientGoes(Runnable task);

    /** Whether items that do not get their locks are retried; then {@link #tryAgain} is called. */
    default boolean mayTryAgain() {
      return false;
    }

    /**
     * Tries items again, which have their answers then.
     *
     * @param kept the monitors that were not had, with the reason
     * @param held counts still
     */
    default void tryAgain(Map<String, ForelockException> kept, HeldRequest held) {
      throw new UnsupportedOperationException();
    }
  }

  /** Items of a write that are not done. */
  public interface Items {
    int count();

    /** Whether these are all that it has. */
    boolean all();

    /** The rest is done without them. To be called once. */
    void leaveOut();

    /** Answers the write when no item is left. */
    void answer();
  }

  private final NodeParts node;
  private final Write write;
  private final WritePlan plan;
  private volatile Runnable unwatch = () -> {};
  /** The thread that requests the locks, while it does: locks that have lingered are granted during that call. */
  private volatile Thread asking;
  /** What that thread goes on with then. */
  private Runnable own;

  public Course(NodeParts node, Write write, WritePlan plan) {
    this.node = node;
    this.write = write;
    this.plan = plan;
  }

  /** To be called once. @param task the search engine's own */
  public void begin(Object task, String action) {
    WriteLocks locks = plan.held == null
        ? DocumentLocks.of(plan, node.source(), plan.monitors, plan.type)
        : new HeldLocks(node.tokens(), plan.held, plan.monitors, plan.tokens, System::nanoTime);
    HeldRequest held = new HeldRequest(node.requests().nextTicket(), task, action, plan.type, locks,
        HeldRequest.OWN_BYTES + plan.bytes, System.nanoTime(), this::fail);
    switch (node.requests().admit(held)) {
      case TOO_MANY:
        node.stats().count(plan.type, Stats.Count.TOO_MANY);
        fail(Refusals.tooMany(plan.type));
        return;
      case TOO_LARGE:
        node.stats().count(plan.type, Stats.Count.TOO_MANY);
        fail(Refusals.tooLarge(plan.type, held.bytes, node.limits().maxBytes(plan.type)));
        return;
      case CLOSED:
        fail(Refusals.closing());
        return;
      default:
        unwatch = write.whenClientGoes(
            () -> refuse(held, Refusals.cancelled("the client has gone"), Stats.Count.CANCELLED));
        acquire(held);
    }
  }

  private void acquire(HeldRequest held) {
    asking = Thread.currentThread();
    try {
      held.locks.acquire(node.timeouts().millis(plan.type, plan.timeoutMillis), problem -> decided(held, problem),
          defect -> node.requests().fail(held, defect));
    } catch (RuntimeException broken) {
      node.requests().fail(held, broken);
    } finally {
      asking = null;
    }
    Runnable work = own;
    own = null;
    try {
      if (work != null) {
        work.run();
      }
    } catch (RuntimeException broken) {
      node.requests().fail(held, broken);
    }
  }

  private void fail(Exception problem) {
    unwatch.run();
    if (problem instanceof Refusal && ((Refusal) problem).tryAgain()) {
      write.tryAgainLater();
    }
    write.fail(problem);
  }

  private void decided(HeldRequest held, ForelockException problem) {
    try {
      decide(held, problem);
    } catch (RuntimeException broken) {
      node.requests().fail(held, broken);
    }
  }

  private void decide(HeldRequest held, ForelockException problem) {
    Map<String, ForelockException> kept = held.locks.refused();
    if (problem != null) {
      onWriteThread(held, () -> notObtained(held, problem));
    } else if (kept.isEmpty() || triesAgain()) {
      onWriteThread(held, () -> granted(held, plan.held != null ? held.locks.notHeld() : answers(kept, Map.of())));
    } else {
      node.holders().tell(kept.keySet(), texts -> onWriteThread(held, () -> granted(held, answers(kept, texts))));
    }
  }

  private static Map<String, Refusal> answers(Map<String, ForelockException> kept, Map<String, String> texts) {
    Map<String, Refusal> answers = new HashMap<>();
    kept.forEach((monitor, reason) ->
        answers.put(monitor, Refusals.kept(monitor, reason, texts.getOrDefault(monitor, ""))));
    return answers;
  }

  /** Unless this is the caller's own thread still: it would have gone on without a lock, too, and soon does so. */
  private void onWriteThread(HeldRequest held, Runnable task) {
    Runnable work = () -> {
      unwatch.run();
      task.run();
    };
    if (Thread.currentThread() == asking) {
      own = work;
    } else {
      node.threads().write(work, broken -> node.requests().fail(held, broken));
    }
  }

  private boolean triesAgain() {
    return plan.type == LockType.BACKGROUND && plan.held == null && write.mayTryAgain();
  }

  /** @param refusals the answers for monitors that others kept */
  private void granted(HeldRequest held, Map<String, Refusal> refusals) {
    if (plan.update && !refusals.isEmpty()) {
      refuse(held, refusals.values().iterator().next(), refusal());
      return;
    }
    // Read before the last check: while its locks are certain, they are in the namespace that this node had then.
    String namespace = node.identity().own();
    if (!held.locks.certain()) {
      refuse(held, Refusals.uncertain(held.locks.firstMonitor()), Stats.Count.UNCERTAIN);
      return;
    }
    boolean late = triesAgain() && !refusals.isEmpty();
    if (!(late ? node.requests().runCounted(held) : node.requests().run(held))) {
      return;
    }
    if (!refusals.isEmpty() && !goesOnWithout(held, refusals, late)) {
      return;
    }
    if (!late) {
      write.awaitRefreshLater();
    }
    long waited = System.nanoTime() - held.since;
    node.stats().granted(plan.type, waited);
    long token = held.locks.token();
    // To give back many takes longer than to answer. But one that lingers must be there for the caller's next write.
    boolean endFirst = plan.monitors.size() == 1 || node.source().lingers();
    Guard guard = new Guard(node.id().get(), held.ticket, token, plan.tokens, namespace, monitorOf(held));
    write.proceed(guardName(), guard, problem -> {
      if (endFirst) {
        node.requests().end(held, problem);
      }
      write.report(waited / 1_000_000, token);
    }, problem -> node.requests().end(held, problem));
  }

  /** @return false: nothing is left of it, and it has been answered */
  private boolean goesOnWithout(HeldRequest held, Map<String, Refusal> refusals, boolean late) {
    Items items = write.kept(refusals);
    if (late) {
      write.tryAgain(held.locks.refused(), held);
    } else {
      if (refusals.values().iterator().next().tryAgain()) { // all have one status
        write.tryAgainLater();
      }
      node.stats().refusedItems.add(items.all() ? 0 : items.count());
    }
    if (items.all()) {
      node.stats().count(plan.type, refusal());
      node.requests().end(held);
      items.answer();
      return false;
    }
    items.leaveOut();
    return true;
  }

  private Stats.Count refusal() {
    return plan.held == null ? Stats.Count.TIMED_OUT : Stats.Count.NOT_HELD;
  }

  private String guardName() {
    return plan.update ? Headers.UPDATE_GUARD : Headers.GUARD;
  }

  private String monitorOf(HeldRequest held) {
    return plan.update ? held.locks.firstMonitor() : "";
  }

  private void notObtained(HeldRequest held, ForelockException problem) {
    if (Refusals.away(problem.code()) && !write.requiresLock() && node.limits().allowsUnguarded()) {
      if (node.requests().run(held)) {
        node.stats().count(plan.type, Stats.Count.ALLOWED);
        node.unguarded().count(plan.documents());
        write.proceed(guardName(), Guard.allowed(monitorOf(held)), failure -> {},
            failure -> node.requests().end(held));
      }
      return;
    }
    if (triesAgain() && problem.retryable()) {
      if (node.requests().runCounted(held)) {
        allLate(held, problem);
      }
      return;
    }
    refuse(held, Refusals.notObtained(problem),
        Refusals.unavailable(problem.code()) ? Stats.Count.UNAVAILABLE : Stats.Count.FAILED);
  }

  /** No lock was obtained: what needs one is tried again, and the rest is written meanwhile. */
  private void allLate(HeldRequest held, ForelockException problem) {
    Map<String, ForelockException> all = new HashMap<>();
    plan.monitors.forEach(monitor -> all.put(monitor, problem));
    Items items = write.kept(answers(all, Map.of()));
    write.tryAgain(all, held);
    if (items.all()) {
      node.requests().end(held);
      items.answer();
      return;
    }
    items.leaveOut();
    write.proceed(Headers.GUARD, Guard.allowed(""), failure -> {}, failure -> node.requests().end(held));
  }

  private void refuse(HeldRequest held, Refusal answer, Stats.Count count) {
    if (node.requests().refuse(held, answer)) {
      node.stats().count(held.type, count);
    }
  }
}
