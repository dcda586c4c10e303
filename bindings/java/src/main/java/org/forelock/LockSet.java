package org.forelock;

import java.lang.ref.Reference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;

/**
 * A lock on several monitors at once: all of them or none, with one deadline, and free of deadlock however sets
 * overlap. Other clients see ordinary locks, one for each member.
 *
 * <p>Free members cost the round trips of a single lock, however many they are. While the set waits for a member that
 * another client holds, it keeps only members that come before it, in one order that all sets share. <em>Not</em>
 * covered: a program that takes a set while it holds another set or a lock; it must keep an order of its own, as
 * {@link #split} does.
 *
 * <p>Not re-entrant. Ownership belongs to the object, not to a thread: every method may be called from any thread. May
 * be locked and unlocked any number of times, one acquisition at a time. An interruption of a waiting thread cancels
 * the acquisition: the thread gets an {@link InstanceLockException} ({@link ErrorCode#CANCELLED}), and its flag is set
 * again.
 */
public final class LockSet extends HeldLock {
  /** The limit on members. */
  public static final int MAX_MEMBERS = 1000;

  /** A reference, so that a client that the application drops is not garbage before its sets. */
  private final ForelockClient client;
  private final Contention<LockSet> contention;
  private volatile List<String> members;

  /**
   * Creates a foreground set.
   *
   * @param lockInfo the purpose, a short text for people
   * @param client must not be closed while the set is in use
   * @param monitors the ids of its members, in any order, 1 to {@link #MAX_MEMBERS}; the same id twice counts once
   */
  public LockSet(String lockInfo, ForelockClient client, Collection<String> monitors) {
    this(lockInfo, client, monitors, LockType.FOREGROUND);
  }

  /**
   * Creates a set of either class.
   *
   * @param lockInfo the purpose, a short text for people
   * @param client must not be closed while the set is in use
   * @param monitors the ids of its members, in any order, 1 to {@link #MAX_MEMBERS}; the same id twice counts once
   * @param lockType the class in which all members contend
   */
  public LockSet(String lockInfo, ForelockClient client, Collection<String> monitors, LockType lockType) {
    this(lockInfo, client, monitors, lockType, LockOptions.NONE);
  }

  /**
   * Creates a set of either class, with options.
   *
   * @param lockInfo the purpose, a short text for people
   * @param client must not be closed while the set is in use
   * @param monitors the ids of its members, in any order, 1 to {@link #MAX_MEMBERS}; the same id twice counts once
   * @param lockType the class in which all members contend
   * @param options the options of each member
   * @throws RequestRejectedException an id is invalid, there is none, or there are too many
   */
  public LockSet(String lockInfo, ForelockClient client, Collection<String> monitors, LockType lockType,
      LockOptions options) {
    this(client, lockInfo, List.copyOf(monitors), lockType, options);
  }

  private LockSet(ForelockClient client, String lockInfo, List<String> ids, LockType lockType, LockOptions options) {
    super(lockInfo, lockType, handle(lockInfo, client.core(), ids, lockType, options));
    this.client = client;
    contention = new Contention<>(this, handle, ids.get(0));
  }

  private static LockHandle handle(
      String lockInfo, ClientCore core, List<String> ids, LockType lockType, LockOptions options) {
    byte[][] texts = new byte[ids.size()][];
    for (int i = 0; i < texts.length; ++i) {
      texts[i] = NativeLibrary.utf8(ids.get(i));
    }
    long number = Native.setNew(core.handle, NativeLibrary.told(Objects.requireNonNull(lockInfo, "lockInfo")), texts,
        Objects.requireNonNull(lockType, "lockType").ordinal(), options.numbers(), options.texts());
    return new LockHandle(core, number, options, "the lock set of " + ids.get(0) + more(ids.size() - 1));
  }

  @Override
  Contention<?> contention() {
    return contention;
  }

  private static String more(int count) {
    return count == 0 ? "" : " and " + count + " more";
  }

  /**
   * Splits ids into parts that are small enough for a set each. Sets of these parts, taken one after the other in this
   * order while the earlier ones are kept, are as free of deadlock as one set.
   *
   * @param monitors any number of ids; the same id twice counts once
   * @return parts of at most {@link #MAX_MEMBERS} ids, in the order in which they are to be taken; none without an id
   */
  public static List<List<String>> split(Collection<String> monitors) {
    return CanonicalOrder.parts(monitors, MAX_MEMBERS);
  }

  /**
   * The members' ids, each once.
   *
   * @return in the order in which they are taken
   */
  public List<String> monitors() {
    List<String> known = members;
    if (known == null) {
      byte[][] texts = new byte[Native.setSize(handle.number)][];
      Native.setMembers(handle.number, texts);
      List<String> ids = new ArrayList<>(texts.length);
      for (byte[] text : texts) {
        ids.add(Failures.text(text));
      }
      known = List.copyOf(ids);
      members = known;
    }
    return known;
  }

  // --- acquiring ---

  /**
   * Begins to contend and returns at once, with the time-out configured for the class.
   *
   * @return completed with this set when it is held, or exceptionally as {@link #lockWithTimeout()} would end; by the
   *     client's executor ({@link ForelockClient.Builder#executor}). Cancelling it, or completing it in another way, as
   *     {@code orTimeout} does, cancels the acquisition; doing so with a dependent stage does not: the set may be held
   *     afterwards
   */
  public CompletableFuture<LockSet> acquireAsync() {
    return contention.acquireAsync(Native.CONFIGURED, false, null);
  }

  /**
   * The same with its own time-out.
   *
   * @param timeout at most; zero or less is a single attempt
   * @return as {@link #acquireAsync()}
   */
  public CompletableFuture<LockSet> acquireAsync(Duration timeout) {
    return contention.acquireAsync(Milliseconds.of(timeout), false, null);
  }

  /**
   * The same, completed by an executor of its own.
   *
   * @param timeout at most; zero or less is a single attempt
   * @param executor completes the result, and so runs its dependents. If it runs tasks at once ({@code Runnable::run}),
   *     or refuses them, by whatever exception, they run on the thread that fetches the client's events. They must then
   *     neither block nor take long: meanwhile all other waiting calls of the client keep waiting. On that thread, a
   *     wait for a lock does not end by an interruption; {@link OperationRunner#run} is refused; and waiting for a
   *     future of this client never ends. A set that has lingered is held at once: then they run on the calling thread
   * @return as {@link #acquireAsync()}
   */
  public CompletableFuture<LockSet> acquireAsync(Duration timeout, Executor executor) {
    return contention.acquireAsync(Milliseconds.of(timeout), false, Objects.requireNonNull(executor));
  }

  /**
   * Begins a single attempt and returns at once: the set is obtained if every member is free; it does not queue.
   *
   * @return as {@link #acquireAsync()}; completed exceptionally with {@link ErrorCode#LOCK_UNAVAILABLE} and the member
   *     that is held or waited for
   */
  public CompletableFuture<LockSet> tryLockAsync() {
    return contention.acquireAsync(Native.CONFIGURED, true, null);
  }

  /**
   * The same, completed by an executor as in {@link #acquireAsync(Duration, Executor)}.
   *
   * @param executor completes the result
   * @return as {@link #tryLockAsync()}
   */
  public CompletableFuture<LockSet> tryLockAsync(Executor executor) {
    return contention.acquireAsync(Native.CONFIGURED, true, Objects.requireNonNull(executor));
  }

  // --- releasing ---

  /**
   * Releases every member. Waits for the confirmation, at most about the session time-out. Afterwards the set is no
   * longer held, whatever this throws. An interruption does not end it.
   *
   * @throws NoNodeException a member did not exist any more, or the set is not held
   * @throws SessionExpiredException the session ended before
   * @throws ConnectionLossException there is no confirmation; the release continues in the background
   */
  public void unlock() {
    contention.release();
  }

  /**
   * Releases every member without waiting.
   *
   * @return completed, or completed exceptionally, as {@link #unlock()} ends; by the client's executor
   */
  public CompletableFuture<Void> unlockAsync() {
    return contention.releaseAsync(() -> { });
  }

  // --- state of a held set ---

  /**
   * The fencing tokens of the current or last grant: {@link ZkBlockingWriteLock#fencingToken()} of each member.
   *
   * @return by the members' ids, in the order of {@link #monitors()}; 0 for one that was never granted
   */
  public Map<String, Long> fencingTokens() {
    List<String> ids = monitors();
    long[] tokens = new long[ids.size()];
    Native.setTokens(handle.number, tokens);
    Map<String, Long> result = new LinkedHashMap<>();
    for (int i = 0; i < tokens.length; ++i) {
      result.put(ids.get(i), tokens[i]);
    }
    Reference.reachabilityFence(this);
    return result;
  }

  /**
   * The highest of {@link #fencingTokens()}: at least every member's token, and lower than the token of every later
   * grant of a member.
   *
   * @return 0 if it was never granted
   */
  public long highestFencingToken() {
    long[] tokens = new long[Native.setSize(handle.number)];
    Native.setTokens(handle.number, tokens);
    long highest = 0;
    for (long token : tokens) {
      highest = Math.max(highest, token);
    }
    return highest;
  }

  /**
   * The member in whose queue the set waits at this moment.
   *
   * @return empty if it waits in none
   */
  public Optional<String> waitsFor() {
    return Optional.ofNullable(Native.setWaitsFor(handle.number)).map(Failures::text);
  }

  /**
   * Sets the callback for losses: called once for each grant of which a member is lost, for the first such member. Set
   * it while the set is free. As {@link ZkBlockingWriteLock#onLost}.
   *
   * @param callback gets the reason and the member
   */
  public void onLost(BiConsumer<LossReason, String> callback) {
    Objects.requireNonNull(callback);
    handle.watch(Native.ON_LOST, 0, event -> callback.accept(LossReason.of(event.value), event.monitor));
  }

  /**
   * Sets the callback for places in queues: called with the member that the set waits for when the place becomes known,
   * and when it changes. Costs the server a listing for each change. Set it while the set is free.
   *
   * @param callback gets the place and the member
   */
  public void onQueued(BiConsumer<QueuePosition, String> callback) {
    Objects.requireNonNull(callback);
    handle.watch(Native.ON_QUEUED, 0, event -> callback.accept(new QueuePosition(event), event.monitor));
  }

  /**
   * Sets the callback for contention: called when another client waits behind a member, once for each class, member and
   * grant. Costs a watch and a listing for each member and each change in its queue. Set it while the set is free.
   *
   * @param callback gets the class and the member
   */
  public void onContended(BiConsumer<LockType, String> callback) {
    Objects.requireNonNull(callback);
    handle.watch(Native.ON_CONTENDED, 0, event -> callback.accept(LockType.of(event.value), event.monitor));
  }

  @Override
  public String toString() {
    return "LockSet(" + contention.monitor() + ", …, " + lockType() + ", " + state() + ")";
  }
}
