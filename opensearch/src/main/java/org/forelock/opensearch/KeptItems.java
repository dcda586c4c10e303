package org.forelock.opensearch;

import java.util.Map;
import org.forelock.search.Refusal;
import org.opensearch.OpenSearchStatusException;
import org.opensearch.action.bulk.BulkItemRequest;
import org.opensearch.action.bulk.BulkItemResponse;
import org.opensearch.action.bulk.BulkShardRequest;
import org.opensearch.action.bulk.BulkShardResponse;

/** KeptItems are the items of a shard bulk whose documents' locks others kept, with their answers. Immutable. */
final class KeptItems {
  private final BulkShardRequest request;
  private final OpenSearchStatusException[] answers;
  private final int count;

  /**
   * Those of the refused monitors.
   *
   * @param itemMonitors of each item, as in the plan
   * @param refusals the answer for each refused monitor
   */
  KeptItems(BulkShardRequest request, String[] itemMonitors, Map<String, Refusal> refusals) {
    this.request = request;
    this.answers = new OpenSearchStatusException[itemMonitors.length];
    int found = 0;
    for (int i = 0; i < itemMonitors.length; ++i) {
      Refusal refusal = itemMonitors[i] == null ? null : refusals.get(itemMonitors[i]);
      answers[i] = refusal == null ? null : Answers.of(refusal);
      found += refusal == null ? 0 : 1;
    }
    this.count = found;
  }

  int count() {
    return count;
  }

  boolean all() {
    return count == answers.length;
  }

  /** Answers them in the request itself: the primary passes them over. To be called once. */
  void leaveOut() {
    for (int i = 0; i < answers.length; ++i) {
      if (answers[i] != null) {
        request.items()[i].abort(request.shardId().getIndexName(), answers[i]);
      }
    }
  }

  /** What a request is answered of which nothing is left. */
  BulkShardResponse response() {
    BulkItemResponse[] responses = new BulkItemResponse[answers.length];
    for (int i = 0; i < answers.length; ++i) {
      BulkItemRequest item = request.items()[i];
      responses[i] = new BulkItemResponse(item.id(), item.request().opType(), new BulkItemResponse.Failure(
          request.shardId().getIndexName(), item.request().id(), answers[i]));
    }
    return new BulkShardResponse(request.shardId(), responses);
  }
}
