package org.forelock.opensearch;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.forelock.ForelockException;
import org.forelock.search.HeldRequest;
import org.forelock.search.Refusals;
import org.forelock.search.WritePlan;
import org.opensearch.action.bulk.BulkItemResponse;
import org.opensearch.action.bulk.BulkShardRequest;
import org.opensearch.action.bulk.BulkShardResponse;
import org.opensearch.cluster.metadata.IndexAbstraction;
import org.opensearch.cluster.service.ClusterService;
import org.opensearch.common.util.concurrent.ThreadContext;
import org.opensearch.common.util.concurrent.ThreadContext.StoredContext;
import org.opensearch.tasks.Task;

/** LateWrites queue writes that got no lock, and detect that clients have gone. Thread-safe. */
final class LateWrites implements Extras {
  private final Disconnections disconnections = new Disconnections();
  private final ClusterService cluster;
  private final ThreadContext context;
  private final WriteQueue queue;

  /** @param queue null: there is none */
  LateWrites(ClusterService cluster, ThreadContext context, WriteQueue queue) {
    this.cluster = cluster;
    this.context = context;
    this.queue = queue;
  }

  @Override
  public String noQueue() {
    return queue == null ? "this node has no dead-letter queue; forelock.queue.mode is off" : null;
  }

  @Override
  public Runnable whenClientGoes(ThreadContext of, Task task, Runnable gone) {
    return disconnections.watch(of, gone);
  }

  /** Background work continues when its client disconnects. */
  @Override
  public List<String> ofClient() {
    return List.of(Disconnections.KEY);
  }

  @Override
  public Late tryAgain(Task task, String action, BulkShardRequest request, WritePlan plan, long timeoutMillis,
      Supplier<StoredContext> caller, Map<String, ForelockException> kept, HeldRequest held) {
    LateItems items = new LateItems(queue, task, action, request, writeName(request.shardId().getIndexName()), plan,
        timeoutMillis, caller, kept, held);
    Runnable unwatch;
    try (StoredContext ignored = caller.get()) {
      unwatch = disconnections.watch(context, () -> items.cancel(Refusals.cancelled("the client has gone")));
    }
    CompletableFuture<BulkItemResponse[]> answers = items.run();
    return (response, problem, then) -> answers.thenAccept(late -> {
      unwatch.run();
      BulkShardResponse merged;
      try {
        merged = LateItems.merge(request, response, problem, late);
      } catch (RuntimeException broken) {
        then.accept(null, broken);
        return;
      }
      then.accept(merged, null);
    });
  }

  /** The name by which a later request writes into this index: a data stream's, for one of its own. */
  private String writeName(String index) {
    IndexAbstraction known = cluster.state().metadata().getIndicesLookup().get(index);
    return known == null || known.getParentDataStream() == null ? index : known.getParentDataStream().getName();
  }
}
