package org.forelock.search;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.forelock.LockType;

/** A HeldRequest is a write that waits for its locks, or is done under them. Thread-safe. */
public final class HeldRequest {
  private enum State { HELD, RUNNING, ENDED }

  /** The node's heap for a waiting client besides its request: 14 kB were measured. */
  public static final long OWN_BYTES = 16 * 1024;

  /** The time for which another node may continue with documents that need no lock, before it asks again. */
  public static final long WITHOUT_LOCK_NANOS = TimeUnit.SECONDS.toNanos(10);

  public final long ticket;
  /** As the search engine has it. */
  public final Object task;
  public final String action;
  public final LockType type;
  public final WriteLocks locks;
  public final long bytes;
  public final long since;
  private final Consumer<Exception> refuse;
  /** Of the locks that it waits for. */
  private volatile LockType waitsAs;
  /** Whether it counts towards the bounds; guarded by them. */
  boolean counted;
  /** Whether its locks were given back; guarded as well. */
  boolean givenBack;
  /** The request that has its place now; null: none. Guarded as well. */
  HeldRequest rest;
  private final AtomicReference<State> state = new AtomicReference<>(State.HELD);
  /** By System.nanoTime(); in the past: nothing is promised. */
  private final AtomicLong promisedUntil = new AtomicLong(System.nanoTime());
  /** The parts that this node has sent, including to its own primary. */
  public final Sends sends = new Sends();
  /** The number of times that the write was sent to the node of a shard. */
  private final Map<Shard, Integer> attempts = new ConcurrentHashMap<>();

  /**
   * Makes it.
   *
   * @param bytes of the heap, as far as the bounds are concerned
   * @param refuse answers the request with a failure; called at most once
   */
  public HeldRequest(long ticket, Object task, String action, LockType type, WriteLocks locks, long bytes, long since,
      Consumer<Exception> refuse) {
    this.ticket = ticket;
    this.task = task;
    this.action = action;
    this.type = type;
    this.waitsAs = type;
    this.locks = locks;
    this.bytes = bytes;
    this.since = since;
    this.refuse = refuse;
  }

  /** The class of the locks that it waits for: another one than {@link #type}, if it was given that while it waited. */
  public LockType waitsAs() {
    return waitsAs;
  }

  /** Its locks are asked for as of this class; towards the bounds it counts as before. */
  public void waitAs(LockType wanted) {
    waitsAs = wanted;
  }

  public boolean held() {
    return state.get() == State.HELD;
  }

  /** Whether the caller may continue with it: then only {@link #end()} can end it. */
  public boolean run() {
    return state.compareAndSet(State.HELD, State.RUNNING);
  }

  /** Whether the caller has ended the wait, and so must refuse the request. */
  public boolean abandon() {
    return state.compareAndSet(State.HELD, State.ENDED);
  }

  /** Whether the caller is the first to say that it was done. */
  public boolean end() {
    return state.compareAndSet(State.RUNNING, State.ENDED);
  }

  /** The number of an attempt that begins now. */
  public int nextAttempt(Shard shard) {
    return attempts.merge(shard, 1, Integer::sum);
  }

  public boolean sentAgain() {
    return attempts.values().stream().anyMatch(count -> count > 1);
  }

  /** As {@link #promise()}, to the latest attempt alone. */
  public long promise(Shard shard, int attempt) {
    return attempt < attempts.getOrDefault(shard, 0) ? 0 : promise();
  }

  /**
   * Promises another node, whose primary does the write, that the locks stay, whatever becomes of the request here.
   *
   * @return for how many nanoseconds from now; 0: nothing is promised, it has ended or the locks are not certain
   */
  public long promise() {
    long nanos = locks.nanosLeft();
    if (nanos <= 0) {
      return 0;
    }
    if (nanos == WriteLocks.NO_LOCK) { // what is left are documents that no other can mean
      return state.get() == State.RUNNING ? WITHOUT_LOCK_NANOS : 0;
    }
    promisedUntil.accumulateAndGet(System.nanoTime() + nanos, (a, b) -> a - b > 0 ? a : b);
    // In this order: whoever ends it sees the promise, or there is none.
    return state.get() == State.RUNNING ? nanos : 0;
  }

  /** For how many nanoseconds from now another node may go on; not above 0: none does. */
  public long promised() {
    return promisedUntil.get() - System.nanoTime();
  }

  /** Calls what {@link HeldRequests} may call once. */
  public void refuse(Exception answer) {
    refuse.accept(answer);
  }
}
