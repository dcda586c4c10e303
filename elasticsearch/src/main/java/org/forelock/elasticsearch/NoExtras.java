package org.forelock.elasticsearch;

import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.elasticsearch.action.bulk.BulkShardRequest;
import org.elasticsearch.common.util.concurrent.ThreadContext;
import org.elasticsearch.common.util.concurrent.ThreadContext.StoredContext;
import org.elasticsearch.tasks.Task;
import org.forelock.ForelockException;
import org.forelock.search.HeldRequest;
import org.forelock.search.WritePlan;

/** Extras without a queue or knowledge of clients; an ancestor task of a write may be cancelled. Thread-safe. */
final class NoExtras implements Extras {
  private final Parts parts;

  NoExtras(Parts parts) {
    this.parts = parts;
  }

  @Override
  public String noQueue() {
    return "the plugin has no dead-letter queue on Elasticsearch";
  }

  @Override
  public Runnable whenClientGoes(ThreadContext context, Task task, Runnable gone) {
    parts.watch(task);
    return () -> {};
  }

  @Override
  public List<String> ofClient() {
    return List.of();
  }

  @Override
  public Late tryAgain(Task task, String action, BulkShardRequest request, WritePlan plan, long timeoutMillis,
      Supplier<StoredContext> caller, Map<String, ForelockException> kept, HeldRequest held) {
    throw new IllegalStateException(noQueue());
  }
}
