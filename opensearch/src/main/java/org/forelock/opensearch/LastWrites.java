package org.forelock.opensearch;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.opensearch.core.index.shard.ShardId;
import org.opensearch.index.engine.Engine;
import org.opensearch.index.shard.IndexingOperationListener;
import org.opensearch.index.translog.Translog.Location;

/** The LastWrites of this node's shards: how far a refresh must come to show all of them. Thread-safe. */
final class LastWrites implements IndexingOperationListener {
  private final Map<ShardId, Location> last = new ConcurrentHashMap<>();

  /** @return null: none is known, all is shown that was there before */
  Location of(ShardId shard) {
    return last.get(shard);
  }

  /** The shard is not on this node any more. */
  void forget(ShardId shard) {
    last.remove(shard);
  }

  @Override
  public void postIndex(ShardId shard, Engine.Index index, Engine.IndexResult result) {
    note(shard, result);
  }

  @Override
  public void postDelete(ShardId shard, Engine.Delete delete, Engine.DeleteResult result) {
    note(shard, result);
  }

  private void note(ShardId shard, Engine.Result result) {
    Location location = result.getTranslogLocation();
    if (location != null) {
      last.merge(shard, location, (a, b) -> a.compareTo(b) > 0 ? a : b);
    }
  }
}
