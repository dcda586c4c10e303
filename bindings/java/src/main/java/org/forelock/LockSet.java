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
 * A lock on several monitors at once: all of them or none, with one deadline, and free of deadlock whatever sets
 * overlap. Other clients see ordinary locks, one for each member.
 *
 * <p>Free members cost the round trips of a single lock, however many they are. A member that another client holds is
 * waited for while the set keeps only members that come before it, in one order that all sets share. <em>Not</em>
 * covered: a program that takes a set while it holds another set or a lock; it has an order of its own to keep, as
 * {@link #split} does.
 *
 * <p>Not re-entrant. Ownership belongs to the object, not to a thread: every method may be called from any thread. May
 * be locked and unlocked any number of times, one acquisition at a time. An interruption of a waiting thread withdraws
 * it: it gets an {@link InstanceLockException} ({@link ErrorCode#CANCELLED}), and its flag is set again.
 */
public final class LockSet extends HeldLock {
  /** The limit on members. */
  public static final int MAX_MEMBERS = 1000;

  /** Kept here, so that a client that the application forgets is not garbage before its sets. */
  private final ForelockClient client;
  private final Contention<LockSet> contention;
  private volatile List<String> members;

  /**
   * A foreground set.
   *
   * @param lockInfo short text for people: what for
   * @param client must not be closed before the set is of no use any more
   * @param monitors the ids of its members, in any order, 1 to {@link #MAX_MEMBERS}; the same id twice counts once
   */
  public LockSet(String lockInfo, ForelockClient client, Collection<String> monitors) {
    this(lockInfo, client, monitors, LockType.FOREGROUND);
  }

  /**
   * A set of either class.
   *
   * @param lockInfo short text for people: what for
   * @param client must not be closed before the set is of no use any more
   * @param monitors the ids of its members, in any order, 1 to {@link #MAX_MEMBERS}; the same id twice counts once
   * @param lockType the class in which all of them contend
   */
  public LockSet(String lockInfo, ForelockClient client, Collection<String> monitors, LockType lockType) {
    this(lockInfo, client, monitors, lockType, LockOptions.NONE);
  }

  /**
   * A set of either class, of which more is said.
   *
   * @param lockInfo short text for people: what for
   * @param client must not be closed before the set is of no use any more
   * @param monitors the ids of its members, in any order, 1 to {@link #MAX_MEMBERS}; the same id twice counts once
   * @param lockType the class in which all of them contend
   * @param options what else may be said about each member
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
   * Ids in parts that are small enough for a set each. Sets of these parts that are taken one after the other, in this
   * order, while the earlier ones are kept, are as free of deadlock as one set.
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
   *     client's executor ({@link ForelockClient.Builder#executor}). Cancelling it, or completing it otherwise, as
   *     {@code orTimeout} does, withdraws the acquisition; to do so with a stage that depends on it does not: the set
   *     may be held afterwards
   */
  public CompletableFuture<LockSet> acquireAsync() {
    return contention.acquireAsync(Native.CONFIGURED, false, null);
  }

  /**
   * The same with a time-out of one's own.
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
   * @param executor completes the result, and so runs what depends on it. One that does so at once
   *     ({@code Runnable::run}) has it run by the thread that fetches the client's events, and so does one that
   *     refuses, by whatever exception. That is for what neither blocks nor takes long: meanwhile all other waiting
   *     calls of the client wait on. A lock that is waited for there is not given up for an interruption;
   *     {@link OperationRunner#run} is refused there; and a future of this client that is waited for there never
   *     ends. A set that has lingered is held at once: then the calling thread takes the place of that one
   * @return as {@link #acquireAsync()}
   */
  public CompletableFuture<LockSet> acquireAsync(Duration timeout, Executor executor) {
    return contention.acquireAsync(Milliseconds.of(timeout), false, Objects.requireNonNull(executor));
  }

  /**
   * Begins a single attempt and returns at once: the set is obtained if every member can be had; it does not queue.
   *
   * @return as {@link #acquireAsync()}; completed exceptionally with {@link ErrorCode#LOCK_UNAVAILABLE} and the member
   *     that is held or waited for
   */
  public CompletableFuture<LockSet> tryLockAsync() {
    return contention.acquireAsync(Native.CONFIGURED, true, null);
  }

  /**
   * The same, completed by an executor as that of {@link #acquireAsync(Duration, Executor)}.
   *
   * @param executor completes the result
   * @return as {@link #tryLockAsync()}
   */
  public CompletableFuture<LockSet> tryLockAsync(Executor executor) {
    return contention.acquireAsync(Native.CONFIGURED, true, Objects.requireNonNull(executor));
  }

  // --- releasing ---

  /**
   * Releases every member. Waits for the confirmation, at most about the session time-out. Not held any more
   * afterwards, whatever it throws. An interruption does not end it.
   *
   * @throws NoNodeException a member did not exist any more, or the set is not held
   * @throws SessionExpiredException the session ended before
   * @throws ConnectionLossException there is no confirmation; the release goes on in the background
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

  // --- what is known of a held set ---

  /**
   * The fencing tokens of the current or last grant, as {@link ZkBlockingWriteLock#fencingToken()} for each member.
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
   * The highest of {@link #fencingTokens()}: no lower than that of any member, and lower than that of every
   * later grant of one of them.
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
   * @return empty if it does not wait in one
   */
  public Optional<String> waitsFor() {
    return Optional.ofNullable(Native.setWaitsFor(handle.number)).map(Failures::text);
  }

  /**
   * The callback is called once for each grant of which a member is lost, with the first one. Set it while the set is
   * free. As {@link ZkBlockingWriteLock#onLost}.
   *
   * @param callback gets the reason and the member
   */
  public void onLost(BiConsumer<LossReason, String> callback) {
    Objects.requireNonNull(callback);
    handle.watch(Native.ON_LOST, 0, event -> callback.accept(LossReason.of(event.value), event.monitor));
  }

  /**
   * The callback is called with the member that the set waits for, when its place there becomes known, and when it
   * changes. Costs the server a listing for each change. Set it while the set is free.
   *
   * @param callback gets the place and the member
   */
  public void onQueued(BiConsumer<QueuePosition, String> callback) {
    Objects.requireNonNull(callback);
    handle.watch(Native.ON_QUEUED, 0, event -> callback.accept(new QueuePosition(event), event.monitor));
  }

  /**
   * The callback is called when another client waits behind a member, once for each class, member and grant. Costs a
   * watch and a listing for each member and each change in its queue. Set it while the set is free.
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
