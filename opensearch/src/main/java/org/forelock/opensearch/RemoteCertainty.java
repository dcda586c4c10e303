package org.forelock.opensearch;

import java.util.concurrent.atomic.AtomicBoolean;
import org.opensearch.core.index.shard.ShardId;

/**
 * The Certainty of locks that another node holds: certain for as long as that node has said, counted from when it was
 * asked, so that the time of the way and differing clocks do not matter. Thread-safe.
 */
final class RemoteCertainty implements Certainty {
  final Guard guard;
  final ShardId shard;
  private final CertaintySource source;
  private final AtomicBoolean asking = new AtomicBoolean();
  private volatile long until = System.nanoTime();
  private volatile long askAgainAt = until;
  private volatile boolean revoked;

  RemoteCertainty(CertaintySource source, Guard guard, ShardId shard) {
    this.source = source;
    this.guard = guard;
    this.shard = shard;
  }

  /** It is not certain from now on, whatever the holder's node says. */
  void revoke() {
    revoked = true;
  }

  /** Asks the holder's node, unless it is being asked already. */
  void ask(Runnable answered) {
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
