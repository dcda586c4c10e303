package org.forelock.opensearch;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.opensearch.common.settings.Settings;
import org.opensearch.core.index.shard.ShardId;
import org.opensearch.index.IndexModule;
import org.opensearch.index.engine.Engine;
import org.opensearch.index.shard.IndexEventListener;
import org.opensearch.index.shard.IndexShard;
import org.opensearch.index.shard.IndexingOperationListener;
import org.opensearch.index.translog.Translog.Location;

/** The LastWrites of this node's guarded shards: positions that a refresh must reach. Thread-safe. */
final class LastWrites {
  private final Map<ShardId, Location> last = new ConcurrentHashMap<>();

  /** @return null: none is known, all is shown that was there before */
  Location of(ShardId shard) {
    return last.get(shard);
  }

  /** Of every index: it may be guarded later. The writes of those that are not are not noted, and cost nothing. */
  void follow(IndexModule index) {
    AtomicBoolean guarded =
        new AtomicBoolean(ArchivedSettings.get(ForelockSettings.INDEX_ENABLED, index.getSettings()));
    index.addSettingsUpdateConsumer(ForelockSettings.INDEX_ENABLED, guarded::set);
    index.addIndexOperationListener(listener(guarded::get));
    index.addIndexEventListener(new IndexEventListener() {
      @Override
      public void afterIndexShardClosed(ShardId id, IndexShard shard, Settings all) {
        last.remove(id);
      }
    });
  }

  private IndexingOperationListener listener(BooleanSupplier guarded) {
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
