package org.forelock.opensearch;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.forelock.search.Shard;
import org.opensearch.common.settings.Settings;
import org.opensearch.core.index.shard.ShardId;
import org.opensearch.index.shard.IndexEventListener;
import org.opensearch.index.shard.IndexShard;

/**
 * The PlainShards are those of this node without a {@link GuardedEngine}, which an index has from its opening on or not
 * at all. A cluster manager without this plugin, or with an older one, may give the setting to an index that is open.
 * Thread-safe.
 */
final class PlainShards {
  private final Set<Shard> plain = ConcurrentHashMap.newKeySet();

  boolean has(Shard shard) {
    return plain.contains(shard);
  }

  /** @param guarded whether the index that is opened now gets the engine */
  IndexEventListener listener(boolean guarded) {
    return new IndexEventListener() {
      @Override
      public void beforeIndexShardCreated(ShardId id, Settings all) {
        Shard shard = Shards.of(id);
        if (guarded) {
          plain.remove(shard); // one that could not be made before is not closed either
        } else {
          plain.add(shard);
        }
      }

      @Override
      public void afterIndexShardClosed(ShardId id, IndexShard shard, Settings all) {
        plain.remove(Shards.of(id));
      }
    };
  }
}
