package org.forelock.search;

import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The Certainty of locks that another node holds: certain for the time that this node has stated, counted from the
 * question, so that network delay and differing clocks do not matter. Thread-safe.
 */
public final class RemoteCertainty implements Certainty {
  public final Guard guard;
  public final Shard shard;
  private final CertaintySource source;
  private final AtomicBoolean asking = new AtomicBoolean();
  private volatile long until = System.nanoTime();
  private volatile long askAgainAt = until;
  private volatile boolean revoked;

  public RemoteCertainty(CertaintySource source, Guard guard, Shard shard) {
    this.source = source;
    this.guard = guard;
    this.shard = shard;
  }

  /** Makes it uncertain from now on, whatever the holder's node answers. */
  public void revoke() {
    revoked = true;
  }

  /** Asks the holder's node, unless it is being asked already. */
  public void ask(Runnable answered) {
    if (!asking.compareAndSet(false, true)) {
      return;
    }
    long askedAt = System.nanoTime();
    source.ask(guard, shard, nanosLeft -> {
      if (nanosLeft > 0) {
        askAgainAt = askedAt + nanosLeft / 2;
        until = askedAt + nanosLeft;
      } else {
        until = askedAt;
      }
      asking.set(false);
      answered.run();
    });
  }

  @Override
  public boolean certain() {
    if (revoked) {
      return false;
    }
    long now = System.nanoTime();
    if (now - askAgainAt > 0) {
      ask(() -> {});
    }
    return until - now > 0;
  }

  @Override
  public long token() {
    return guard.token;
  }

  @Override
  public long token(String id) {
    return guard.tokens.of(id, guard.token);
  }
}
