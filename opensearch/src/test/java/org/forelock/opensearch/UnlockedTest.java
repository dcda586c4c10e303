package org.forelock.opensearch;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.opensearch.Version;
import org.opensearch.action.DocWriteRequest;
import org.opensearch.action.bulk.BulkItemRequest;
import org.opensearch.action.bulk.BulkShardRequest;
import org.opensearch.action.delete.DeleteRequest;
import org.opensearch.action.index.IndexRequest;
import org.opensearch.action.support.WriteRequest.RefreshPolicy;
import org.opensearch.cluster.ClusterName;
import org.opensearch.cluster.ClusterState;
import org.opensearch.cluster.metadata.IndexMetadata;
import org.opensearch.cluster.metadata.Metadata;
import org.opensearch.common.settings.Settings;
import org.opensearch.core.index.shard.ShardId;

class UnlockedTest {
  private static int documents(Settings index, DocWriteRequest<?>... writes) {
    IndexMetadata.Builder metadata = IndexMetadata.builder("i").settings(Settings.builder().put(index)
        .put(IndexMetadata.SETTING_VERSION_CREATED, Version.CURRENT)).numberOfShards(1).numberOfReplicas(0);
    ClusterState state =
        ClusterState.builder(new ClusterName("test")).metadata(Metadata.builder().put(metadata)).build();
    BulkItemRequest[] items =
        Arrays.stream(writes).map(write -> new BulkItemRequest(0, write)).toArray(BulkItemRequest[]::new);
    return Unlocked.documents(state, new BulkShardRequest(new ShardId("i", "uuid", 0), RefreshPolicy.NONE, items));
  }

  private static Settings guarded(String monitor) {
    return Settings.builder().put("index.forelock.enabled", true).put("index.forelock.monitor", monitor).build();
  }

  private static IndexRequest written(String id) {
    IndexRequest write = new IndexRequest("i").id(id).source(Map.of("article", "P1"));
    if (id == null) {
      write.process(Version.CURRENT, null, "i"); // the node makes one up
    }
    return write;
  }

  @Test
  void oneWithANewIdNeedsNoLockWhereTheIdIsTheMonitor() {
    assertEquals(2, documents(guarded("document"), written("1"), written(null), new DeleteRequest("i", "1")));
    assertEquals(0, documents(guarded("bucket:8"), written(null)));
    assertEquals(0, documents(Settings.EMPTY, written("1")));
  }

  @Test
  void whatHasItsMonitorElsewhereNeedsItsLockUnderANewId() {
    assertEquals(2, documents(guarded("field:article"), written("1"), written(null)));
    assertEquals(1, documents(guarded("routing"), written(null).routing("r")));
  }
}
