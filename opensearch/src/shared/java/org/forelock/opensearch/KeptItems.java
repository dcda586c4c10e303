package org.forelock.opensearch;

import java.util.Map;
import java.util.function.Consumer;
import org.forelock.search.Course;
import org.forelock.search.Refusal;
import org.opensearch.OpenSearchStatusException;
import org.opensearch.action.bulk.BulkItemRequest;
import org.opensearch.action.bulk.BulkItemResponse;
import org.opensearch.action.bulk.BulkShardRequest;
import org.opensearch.action.bulk.BulkShardResponse;

/** KeptItems are the items of a shard bulk whose documents' locks others kept, with their answers. */
final class KeptItems implements Course.Items {
  private final BulkShardRequest request;
  private final OpenSearchStatusException[] answers;
  private final int count;
  private final Consumer<BulkShardResponse> answer;

  /**
   * Those of the refused monitors.
   *
   * @param itemMonitors of each item, as in the plan
   * @param refusals the answer for each refused monitor
   * @param answer answers the request
   */
  KeptItems(BulkShardRequest request, String[] itemMonitors, Map<String, Refusal> refusals,
      Consumer<BulkShardResponse> answer) {
    this.request = request;
    this.answer = answer;
    this.answers = new OpenSearchStatusException[itemMonitors.length];
    int found = 0;
    for (int i = 0; i < itemMonitors.length; ++i) {
      Refusal refusal = itemMonitors[i] == null ? null : refusals.get(itemMonitors[i]);
      answers[i] = refusal == null ? null : Answers.of(refusal);
      found += refusal == null ? 0 : 1;
    }
    this.count = found;
  }

  @Override
  public int count() {
    return count;
  }

  @Override
  public boolean all() {
    return count == answers.length;
  }

  /** Answers them in the request itself: the primary passes them over. */
  @Override
  public void leaveOut() {
    for (int i = 0; i < answers.length; ++i) {
      if (answers[i] != null) {
        request.items()[i].abort(request.shardId().getIndexName(), answers[i]);
      }
    }
  }

  @Override
  public void answer() {
    BulkItemResponse[] responses = new BulkItemResponse[answers.length];
    for (int i = 0; i < answers.length; ++i) {
      BulkItemRequest item = request.items()[i];
      responses[i] = SearchEngine.failure(item.id(), item.request().opType(),
          SearchEngine.cause(request.shardId().getIndexName(), item.request().id(), answers[i]));
    }
    answer.accept(new BulkShardResponse(request.shardId(), responses));
  }
}
