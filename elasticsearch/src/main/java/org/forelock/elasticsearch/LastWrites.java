package org.forelock.elasticsearch;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import org.elasticsearch.index.engine.Engine;
import org.elasticsearch.index.shard.IndexingOperationListener;
import org.elasticsearch.index.shard.ShardId;
import org.elasticsearch.index.translog.Translog.Location;

/** The LastWrites of this node's guarded shards: how far a refresh must come to show all of them. Thread-safe. */
final class LastWrites {
  private final Map<ShardId, Location> last = new ConcurrentHashMap<>();

  /** @return null: none is known, all is shown that was there before */
  Location of(ShardId shard) {
    return last.get(shard);
  }

  /** The shard is not on this node any more. */
  void forget(ShardId shard) {
    last.remove(shard);
  }

  /** @param guarded whether the index is: the writes of others are not noted, and cost nothing */
  IndexingOperationListener listener(BooleanSupplier guarded) {
    return new IndexingOperationListener() {
      @Override
      public void postIndex(ShardId shard, Engine.Index index, Engine.IndexResult result) {
        if (guarded.getAsBoolean()) {
          note(shard, result);
        }
      }

      @Override
      public void postDelete(ShardId shard, Engine.Delete delete, Engine.DeleteResult result) {
        if (guarded.getAsBoolean()) {
          note(shard, result);
        }
      }
    };
  }

  private void note(ShardId shard, Engine.Result result) {
    Location location = result.getTranslogLocation();
    if (location != null) {
      last.merge(shard, location, (a, b) -> a.compareTo(b) > 0 ? a : b);
    }
  }
}
