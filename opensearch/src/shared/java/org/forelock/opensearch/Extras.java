package org.forelock.opensearch;

import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.forelock.ForelockException;
import org.forelock.search.HeldRequest;
import org.forelock.search.WritePlan;
import org.opensearch.action.bulk.BulkShardRequest;
import org.opensearch.action.bulk.BulkShardResponse;
import org.opensearch.common.util.concurrent.ThreadContext;
import org.opensearch.common.util.concurrent.ThreadContext.StoredContext;
import org.opensearch.tasks.Task;

/** Treatment of held writes that only one of the search engines supports. Thread-safe. */
interface Extras {
  /** Items that are tried again. */
  interface Late {
    /**
     * Completes an answer with theirs, when they have them.
     *
     * @param response of the other items; null: there is a problem
     * @param then called once, with a response or a problem
     */
    void whenDone(BulkShardResponse response, Exception problem, BiConsumer<BulkShardResponse, Exception> then);
  }

  /** Why items cannot be tried again and queued, for clients; null: they can. */
  String noQueue();

  /**
   * Ends a wait whose answer nobody will take.
   *
   * @param task of the write, in the context of its client
   * @return ends that
   */
  Runnable whenClientGoes(ThreadContext context, Task task, Runnable gone);

  /** What a context knows of its client, by which {@link #whenClientGoes} would know it. */
  List<String> ofClient();

  /** Only where there is a queue. @param kept why each monitor was not obtained */
  Late tryAgain(Task task, String action, BulkShardRequest request, WritePlan plan, long timeoutMillis,
      Supplier<StoredContext> caller, Map<String, ForelockException> kept, HeldRequest held);
}
