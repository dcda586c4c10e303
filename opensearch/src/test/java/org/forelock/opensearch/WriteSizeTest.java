package org.forelock.opensearch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.opensearch.action.bulk.BulkItemRequest;
import org.opensearch.action.bulk.BulkShardRequest;
import org.opensearch.action.index.IndexRequest;
import org.opensearch.action.support.WriteRequest.RefreshPolicy;
import org.opensearch.action.update.UpdateRequest;
import org.opensearch.core.index.shard.ShardId;
import org.opensearch.script.Script;
import org.opensearch.script.ScriptType;

class WriteSizeTest {
  private static final int MANY = 1_000_000;

  private static UpdateRequest update(String code, Object parameter) {
    return new UpdateRequest("articles", "7")
        .script(new Script(ScriptType.INLINE, "painless", code, Map.of("p", parameter)));
  }

  @Test
  void aScriptAndItsParametersCount() {
    for (UpdateRequest update : List.of(update("x".repeat(MANY), 1), update("x", "y".repeat(MANY)),
        update("x", Map.of("y", List.of("y".repeat(MANY)))), update("x", Collections.nCopies(MANY, 7)))) {
      long bytes = WriteSize.of(update);
      assertTrue(bytes >= MANY && bytes < 40L * MANY, bytes + " bytes");
      BulkShardRequest bulk = new BulkShardRequest(new ShardId("articles", "uuid", 0), RefreshPolicy.NONE,
          new BulkItemRequest[] {new BulkItemRequest(0, update), new BulkItemRequest(1, update)});
      assertTrue(WriteSize.of(bulk) >= 2 * bytes, "each item");
    }
  }

  @Test
  void withoutAScriptItIsOpenSearchsOwnNumber() {
    IndexRequest write = new IndexRequest("articles").id("7").source(Map.of("n", 1));
    UpdateRequest update = new UpdateRequest("articles", "7").doc(Map.of("n", 1));
    assertEquals(write.ramBytesUsed(), WriteSize.of(write));
    assertEquals(update.ramBytesUsed(), WriteSize.of(update));
  }
}
