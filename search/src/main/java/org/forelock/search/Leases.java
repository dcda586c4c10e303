package org.forelock.search;

import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import org.forelock.ErrorCode;
import org.forelock.ForelockException;

/**
 * The Leases of this node are locks that it holds for clients from one request to the next. A lease that is not kept in
 * time ends. Thread-safe; no method blocks.
 *
 * <p>A waiting lease is a held request like a write: it counts among them, and is cancelled with them.
 */
public final class Leases {
  /** Names of values in a question to the node of a lease. */
  private static final String ACTION = "action";
  private static final String ID = "id";
  private static final String STATE = "state";
  private static final String KEEP_MS = "keep_ms";
  /** The actions of questions. */
  private static final String KEEP = "keep";
  private static final String RELEASE = "release";
  /** The answers. */
  private static final String DONE = "done";
  private static final String MISSING = "missing";
  private static final String UNCERTAIN = "uncertain";

  private final LeaseLimits limits;
  private final NodeParts node;
  private final Executor answers;
  private final BiConsumer<Long, Runnable> later;
  private final LongSupplier clock;
  private final SecureRandom random = new SecureRandom();
  private final Map<String, Lease> held = new ConcurrentHashMap<>();
  /** Those that wait or are held; guarded by this. */
  private int count;
  private volatile boolean closed;

  /**
   * Without a lease.
   *
   * @param answers on which clients are answered
   * @param later does something after so many milliseconds; not if the node ends before
   * @param clock in nanoseconds
   */
  public Leases(LeaseLimits limits, NodeParts node, Executor answers, BiConsumer<Long, Runnable> later,
      LongSupplier clock) {
    this.limits = limits;
    this.node = node;
    this.answers = answers;
    this.later = later;
    this.clock = clock;
  }

  /**
   * Waits for the locks.
   *
   * @param task the search engine's own, by which it can be cancelled
   * @param then called once, with what the client is told or the problem
   * @return is to be run when the client goes before it was told
   */
  public Runnable take(LeaseRequest wanted, Object task, BiConsumer<Map<String, Object>, Exception> then) {
    try {
      node.identity().check();
    } catch (Refusal otherZooKeeper) {
      then.accept(null, otherZooKeeper);
      return () -> {};
    }
    synchronized (this) {
      if (count >= limits.mostLeases()) {
        node.stats().count(wanted.type(), Stats.Count.TOO_MANY);
        then.accept(null, Refusals.of(Refusals.TOO_MANY_REQUESTS, "too_many_leases", "", "this node has given "
            + count + " leases, and forelock.leases.max permits no more; try again later"));
        return () -> {};
      }
      ++count;
    }
    Lease lease;
    try {
      lease = new Lease(wanted, task, then);
    } catch (ForelockException invalid) {
      leave();
      then.accept(null, Refusals.notObtained(invalid));
      return () -> {};
    }
    lease.begin();
    return lease::clientHasGone;
  }

  private synchronized void leave() {
    --count;
  }

  /** The id of the node that has given a lease; empty: it is no lease's. */
  public static String nodeOf(String id) {
    return id.substring(0, Math.max(id.lastIndexOf('.'), 0));
  }

  /** The question to that node. */
  public static Map<String, String> keep(String id) {
    return Map.of(ACTION, KEEP, ID, id);
  }

  /** The question to that node. */
  public static Map<String, String> release(String id) {
    return Map.of(ACTION, RELEASE, ID, id);
  }

  /** Answers a question of {@link #keep(String)} or {@link #release(String)}. */
  public Map<String, Object> answer(Map<String, ?> question) {
    Lease lease = held.get((String) question.get(ID));
    if (lease == null) {
      return Map.of(STATE, MISSING);
    }
    return KEEP.equals(question.get(ACTION)) ? lease.keep() : Map.of(STATE, lease.end() ? DONE : MISSING);
  }

  /**
   * The answer to the client.
   *
   * @param answer of {@link #answer}; null: the node is not in the cluster
   * @throws Refusal if it was not done
   */
  public static Map<String, Object> told(Map<String, String> question, Map<String, ?> answer) {
    String id = question.get(ID);
    Object state = answer == null ? MISSING : answer.get(STATE);
    if (MISSING.equals(state)) {
      throw Refusals.of(Refusals.NOT_FOUND, "no_such_lease", "", "there is no lease " + id
          + ": it was given back, was not kept in time, or its node has ended. Take a new one and read anew");
    }
    if (UNCERTAIN.equals(state)) {
      throw Refusals.of(Refusals.CONFLICT, Names.of(ErrorCode.LOCK_UNHEALTHY), "", "the lease " + id
          + " was not kept: its locks are not certain now, as ZooKeeper cannot be reached or has ended the session");
    }
    Map<String, Object> told = new LinkedHashMap<>();
    told.put(ID, id);
    told.put(KEEP.equals(question.get(ACTION)) ? "kept" : "released", true);
    if (answer.containsKey(KEEP_MS)) {
      told.put(KEEP_MS, answer.get(KEEP_MS));
    }
    return told;
  }

  /** Those that are held. */
  public Map<String, Object> list() {
    List<Object> all = new ArrayList<>();
    held.values().forEach(lease -> all.add(lease.toMap()));
    return Map.of("leases", all);
  }

  /** None is given from now on; those that wait are refused, and those that are held are given back. */
  public void close() {
    closed = true;
    node.requests().close();
    held.values().forEach(Lease::end);
  }

  private final class Lease {
    private final String id;
    private final LeaseRequest wanted;
    private final LeaseLocks locks;
    private final HeldRequest request;
    private final BiConsumer<Map<String, Object>, Exception> then;
    private final long since = clock.getAsLong();
    /** Guarded by this. */
    private long until;
    private boolean over;

    Lease(LeaseRequest wanted, Object task, BiConsumer<Map<String, Object>, Exception> then) {
      byte[] secret = new byte[16];
      random.nextBytes(secret);
      this.id = node.id().get() + "." + HexFormat.of().formatHex(secret);
      this.wanted = wanted;
      this.then = then;
      this.locks = new LeaseLocks(node.source(), wanted);
      this.request = new HeldRequest(node.requests().nextTicket(), task, "forelock/lease", wanted.type(), locks,
          HeldRequest.OWN_BYTES, since, this::refused);
    }

    void begin() {
      switch (node.requests().admit(request)) {
        case CLOSED:
          refused(Refusals.closing());
          return;
        case TOO_MANY:
        case TOO_LARGE:
          node.stats().count(wanted.type(), Stats.Count.TOO_MANY);
          refused(Refusals.tooMany(wanted.type()));
          return;
        default:
      }
      long millis = wanted.timeoutMillis() < 0 ? node.timeouts().millis(wanted.type(), -1) : wanted.timeoutMillis();
      try {
        locks.acquire(Math.min(millis, limits.mostWaitMillis()), this::decided,
            defect -> node.requests().fail(request, defect));
      } catch (RuntimeException broken) {
        node.requests().fail(request, broken);
      }
    }

    private void decided(ForelockException problem) {
      if (problem != null) {
        if (node.requests().refuse(request, Refusals.notObtained(problem))) {
          node.stats().count(wanted.type(), problem.code() == ErrorCode.LOCK_TIMEOUT
              || problem.code() == ErrorCode.LOCK_UNAVAILABLE ? Stats.Count.TIMED_OUT
              : Refusals.unavailable(problem.code()) ? Stats.Count.UNAVAILABLE : Stats.Count.FAILED);
        }
        return;
      }
      synchronized (this) {
        until = clock.getAsLong() + wanted.keepMillis() * 1_000_000;
      }
      if (!node.requests().run(request)) {
        return; // it was cancelled meanwhile
      }
      node.stats().granted(wanted.type(), clock.getAsLong() - since);
      Map<String, Object> told = new LinkedHashMap<>(Map.of(ID, id));
      told.put("tokens", tokens());
      told.put("held", locks.heldHeader());
      told.put(KEEP_MS, wanted.keepMillis());
      held.put(id, this);
      if (closed) {
        end();
        answer(null, Refusals.closing());
        return;
      }
      later.accept(wanted.keepMillis(), this::look);
      answer(told, null);
    }

    /** As text, since not all JSON readers support such large numbers. */
    private Map<String, Object> tokens() {
      Map<String, Object> tokens = new LinkedHashMap<>();
      locks.tokens().forEach((monitor, token) -> tokens.put(monitor, Long.toString(token)));
      return tokens;
    }

    private void refused(Exception problem) {
      leave();
      answer(null, problem);
    }

    private void answer(Map<String, Object> told, Exception problem) {
      if (closed) { // soon there are no connections to the clients any more
        then.accept(told, problem);
        return;
      }
      try {
        answers.execute(() -> then.accept(told, problem));
      } catch (RejectedExecutionException closing) {
        then.accept(told, problem);
      }
    }

    /** Ends it: no client knows of it, and none would keep it. */
    void clientHasGone() {
      if (node.requests().refuse(request, Refusals.cancelled("the client has gone"))) {
        node.stats().count(wanted.type(), Stats.Count.CANCELLED);
      } else {
        end();
      }
    }

    synchronized Map<String, Object> keep() {
      if (isOver()) {
        return Map.of(STATE, MISSING);
      }
      if (!locks.certain()) {
        return Map.of(STATE, UNCERTAIN);
      }
      until = clock.getAsLong() + wanted.keepMillis() * 1_000_000;
      return Map.of(STATE, DONE, KEEP_MS, wanted.keepMillis());
    }

    /** Also where nothing has come to end it yet; so nothing is kept that will be ended. */
    private synchronized boolean isOver() {
      over |= clock.getAsLong() - until >= 0;
      return over;
    }

    private void look() {
      if (!held.containsKey(id)) {
        return;
      }
      long left;
      synchronized (this) {
        left = isOver() ? 0 : until - clock.getAsLong();
      }
      if (left <= 0) {
        end();
      } else {
        later.accept(left / 1_000_000 + 1, this::look);
      }
    }

    /** @return whether it was held until now */
    boolean end() {
      if (!held.remove(id, this)) {
        return false;
      }
      boolean inTime;
      synchronized (this) {
        inTime = !isOver();
        over = true;
      }
      node.requests().end(request);
      leave();
      return inTime;
    }

    Map<String, Object> toMap() {
      Map<String, Object> map = new LinkedHashMap<>();
      long now = clock.getAsLong();
      map.put(ID, id);
      map.put("tokens", tokens());
      map.put("priority", Names.of(wanted.type()));
      map.put("info", wanted.info());
      map.put("held_ms", (now - since) / 1_000_000);
      synchronized (this) {
        map.put("left_ms", Math.max(until - now, 0) / 1_000_000);
      }
      return map;
    }
  }
}
