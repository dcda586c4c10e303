package org.forelock.opensearch;

import java.util.function.Consumer;
import org.opensearch.action.ActionRequest;
import org.opensearch.action.DocWriteResponse;
import org.opensearch.action.bulk.BulkItemResponse;
import org.opensearch.action.bulk.BulkShardResponse;
import org.opensearch.action.support.WriteRequest;
import org.opensearch.action.support.WriteRequest.RefreshPolicy;
import org.opensearch.core.action.ActionResponse;
import org.opensearch.core.index.shard.ShardId;

/**
 * A RefreshWait removes {@code refresh=wait_for} from a write, and waits for the refresh after the locks are released:
 * else they would be held for a refresh interval in which nothing is written.
 */
final class RefreshWait {
  private RefreshWait() {}

  /** Whether the write asked for it; it does not any more. */
  static boolean take(ActionRequest request) {
    WriteRequest<?> write = request instanceof WriteRequest ? (WriteRequest<?>) request : null;
    if (write == null || write.getRefreshPolicy() != RefreshPolicy.WAIT_UNTIL) {
      return false;
    }
    write.setRefreshPolicy(RefreshPolicy.NONE);
    return true;
  }

  /**
   * Waits until what was written can be found.
   *
   * @param response of a shard's part of a bulk, or of an update
   * @param then called once; the response says then whether that was forced
   */
  static void await(ActionResponse response, Refreshes refreshes, Runnable then) {
    ShardId shard = written(response);
    if (shard == null) {
      then.run();
      return;
    }
    Consumer<Boolean> force = response instanceof BulkShardResponse
        ? ((BulkShardResponse) response)::setForcedRefresh : ((DocWriteResponse) response)::setForcedRefresh;
    refreshes.await(shard, forced -> {
      force.accept(forced);
      then.run();
    });
  }

  /** @return null: nothing was */
  private static ShardId written(ActionResponse response) {
    if (response instanceof DocWriteResponse) {
      return changed((DocWriteResponse) response) ? ((DocWriteResponse) response).getShardId() : null;
    }
    if (response instanceof BulkShardResponse) {
      for (BulkItemResponse item : ((BulkShardResponse) response).getResponses()) {
        if (!item.isFailed() && changed(item.getResponse())) {
          return item.getResponse().getShardId();
        }
      }
    }
    return null;
  }

  private static boolean changed(DocWriteResponse response) {
    return response.getResult() != DocWriteResponse.Result.NOOP;
  }
}
