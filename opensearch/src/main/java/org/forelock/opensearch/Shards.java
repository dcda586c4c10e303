package org.forelock.opensearch;

import java.io.IOException;
import org.forelock.search.Shard;
import org.opensearch.core.common.io.stream.StreamInput;
import org.opensearch.core.common.io.stream.StreamOutput;
import org.opensearch.core.index.shard.ShardId;

/** Shards as OpenSearch has them. */
final class Shards {
  private Shards() {}

  static Shard of(ShardId id) {
    return new Shard(id.getIndexName(), id.getIndex().getUUID(), id.id());
  }

  static Shard read(StreamInput in) throws IOException {
    return of(new ShardId(in));
  }

  static void write(Shard shard, StreamOutput out) throws IOException {
    new ShardId(shard.index(), shard.uuid(), shard.number()).writeTo(out);
  }
}
