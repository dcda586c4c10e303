package org.forelock.opensearch;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import org.forelock.search.Shard;
import org.opensearch.common.settings.Settings;
import org.opensearch.core.index.shard.ShardId;
import org.opensearch.index.IndexService;
import org.opensearch.index.IndexSettings;
import org.opensearch.index.shard.IndexEventListener;
import org.opensearch.index.shard.IndexShard;

/**
 * The PlainShards are the shards of this node without a {@link GuardedEngine}, which an index gets when it is opened or
 * not at all. A cluster manager without this plugin, or with an older one, may give the setting to an open index.
 * Thread-safe.
 */
final class PlainShards {
  private final Set<Shard> plain = ConcurrentHashMap.newKeySet();

  boolean has(Shard shard) {
    return plain.contains(shard);
  }

  /** @param hasEngine whether an index that is opened gets the engine */
  Listener listener(Predicate<IndexSettings> hasEngine) {
    return new Listener(hasEngine);
  }

  /** Follows one index from its opening on. */
  final class Listener implements IndexEventListener {
    private final Predicate<IndexSettings> hasEngine;
    private volatile boolean guarded;

    private Listener(Predicate<IndexSettings> hasEngine) {
      this.hasEngine = hasEngine;
    }

    @Override
    public void afterIndexCreated(IndexService index) {
      opened(index.getIndexSettings());
    }

    /** Later settings change nothing of the engine. */
    void opened(IndexSettings index) {
      guarded = hasEngine.test(index);
    }

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
  }
}
