package org.forelock.opensearch;

import java.util.HashMap;
import java.util.Map;
import org.forelock.search.Shard;
import org.opensearch.core.index.shard.ShardId;

/** Shards as OpenSearch has them, and as messages have them. */
final class Shards {
  private Shards() {}

  static Shard of(ShardId id) {
    return new Shard(id.getIndexName(), id.getIndex().getUUID(), id.id());
  }

  static ShardId id(Shard shard) {
    return new ShardId(shard.index(), shard.uuid(), shard.number());
  }

  static Map<String, Object> values(Shard shard) {
    Map<String, Object> values = new HashMap<>();
    values.put("index", shard.index());
    values.put("uuid", shard.uuid());
    values.put("shard", shard.number());
    return values;
  }

  static Shard from(Map<String, Object> values) {
    return new Shard((String) values.get("index"), (String) values.get("uuid"), (Integer) values.get("shard"));
  }
}
