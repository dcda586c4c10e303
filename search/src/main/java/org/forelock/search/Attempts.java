package org.forelock.search;

import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The attempts at writes that primaries of this node do under locks of other nodes. Thread-safe.
 *
 * <p>Where the connection to a primary breaks, the cluster sends the same write again while the first attempt may still
 * be under way there, and the locks go back when the second one has been answered. So of a write to a shard the latest
 * attempt alone goes on: when it begins, the locks are not certain any more for those before it.
 *
 * <p>An attempt at a primary on another node needs nothing of that: there is another primary only after the former one
 * has come to an end with all that it does and has handed the shard over, or with a higher primary term; then no copy
 * takes what the former one still does, and what it has done alone is undone when it joins again.
 */
public final class Attempts {
  private final Map<Key, RemoteCertainty> latest = new ConcurrentHashMap<>();

  /** Makes it the latest one, unless a later one is there: then it is the one that does not go on. */
  public void begin(RemoteCertainty attempt) {
    latest.compute(new Key(attempt), (key, former) -> {
      if (former == null) {
        return attempt;
      }
      // Of the same number is what a node in between has sent again: by the order in which they come.
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
