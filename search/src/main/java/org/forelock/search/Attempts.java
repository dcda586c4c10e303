package org.forelock.search;

import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The attempts at writes that primaries of this node do under locks of other nodes. Thread-safe.
 *
 * <p>When the connection to a primary breaks, the cluster sends the same write again while the first attempt may still
 * be under way there, and the locks are released when the second one has been answered. So only the latest attempt at a
 * write to a shard continues: when it begins, the locks are no longer certain for earlier ones.
 *
 * <p>Attempts at primaries on different nodes need no such order. A new primary exists only after the former one has
 * finished all its work and handed the shard over, or with a higher primary term: then no copy accepts the former one's
 * operations, and operations that it alone has done are rolled back when it rejoins.
 */
public final class Attempts {
  private final Map<Key, RemoteCertainty> latest = new ConcurrentHashMap<>();

  /** Makes it the latest one, unless a later one exists: then this one does not continue. */
  public void begin(RemoteCertainty attempt) {
    latest.compute(new Key(attempt), (key, former) -> {
      if (former == null) {
        return attempt;
      }
      // Attempts with the same number were repeated by a node in between: they count in the order of arrival.
      boolean later = attempt.guard.attempt >= former.guard.attempt;
      (later ? former : attempt).revoke();
      return later ? attempt : former;
    });
  }

  public void end(RemoteCertainty attempt) {
    latest.remove(new Key(attempt), attempt);
  }

  public int count() {
    return latest.size();
  }

  private static final class Key {
    private final String node;
    private final long ticket;
    private final Shard shard;

    Key(RemoteCertainty attempt) {
      node = attempt.guard.node;
      ticket = attempt.guard.ticket;
      shard = attempt.shard;
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Key && ((Key) other).ticket == ticket && ((Key) other).node.equals(node)
          && ((Key) other).shard.equals(shard);
    }

    @Override
    public int hashCode() {
      return Objects.hash(node, ticket, shard);
    }
  }
}
