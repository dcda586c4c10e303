package org.forelock.opensearch;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.forelock.ErrorCode;
import org.forelock.FailedAttempt;
import org.forelock.ForelockException;
import org.forelock.LockType;
import org.forelock.search.DocumentLocks;
import org.forelock.search.DocumentTokens;
import org.forelock.search.Guard;
import org.forelock.search.Headers;
import org.forelock.search.HeldRequest;
import org.forelock.search.Names;
import org.forelock.search.Refusal;
import org.forelock.search.Refusals;
import org.forelock.search.Stats;
import org.forelock.search.WritePlan;
import org.opensearch.ExceptionsHelper;
import org.opensearch.OpenSearchException;
import org.opensearch.action.DocWriteRequest;
import org.opensearch.action.DocWriteResponse;
import org.opensearch.action.bulk.BulkItemRequest;
import org.opensearch.action.bulk.BulkItemResponse;
import org.opensearch.action.bulk.BulkShardRequest;
import org.opensearch.action.bulk.BulkShardResponse;
import org.opensearch.action.support.replication.ReplicationResponse.ShardInfo;
import org.opensearch.common.util.concurrent.ThreadContext.StoredContext;
import org.opensearch.core.action.ActionListener;
import org.opensearch.tasks.Task;

/**
 * LateItems are the items of a shard bulk whose locks others kept, in a bulk that may be queued: their locks are
 * retried a number of times, items that get their locks are written, and the rest becomes dead letters. There is one
 * attempt at a time, and each sees the changes of the one before. The place of the first attempt among the held
 * requests is kept to the end, and so is the whole request, which counts with its size.
 */
final class LateItems {
  /** Of a monitor's failed attempts, the first keeps its message, and so many of the last. */
  static final int LAST_MESSAGES = 4;
  static final int MAX_MESSAGE_BYTES = 1000;

  private final WriteQueue queue;
  private final Task task;
  private final String action;
  private final BulkShardRequest request;
  private final String stream;
  private final WritePlan plan;
  private final long timeoutMillis;
  private final Supplier<StoredContext> caller;
  /** The monitors that are not had yet, with their failed attempts. */
  private final Map<String, List<FailedAttempt>> open = new TreeMap<>();
  private final BulkItemResponse[] answers;
  private final CompletableFuture<BulkItemResponse[]> end = new CompletableFuture<>();
  private int attempts = 1;
  /** Has the place among the held requests. */
  private volatile HeldRequest current;
  private volatile Refusal cancelled;
  private long since;

  /**
   * The items of the monitors that the first attempt did not get.
   *
   * @param stream the data stream to which the index belongs, or the index
   * @param timeoutMillis of each attempt
   * @param caller the context in which the bulk came
   * @param kept the monitors that others kept, with the reason; null: there was no try left
   * @param first the first attempt, which still counts
   */
  LateItems(WriteQueue queue, Task task, String action, BulkShardRequest request, String stream, WritePlan plan,
      long timeoutMillis, Supplier<StoredContext> caller, Map<String, ForelockException> kept, HeldRequest first) {
    this.queue = queue;
    this.task = task;
    this.action = action;
    this.request = request;
    this.stream = stream;
    this.plan = plan;
    this.timeoutMillis = timeoutMillis;
    this.caller = caller;
    this.since = first.since;
    this.current = first;
    this.answers = new BulkItemResponse[request.items().length];
    kept.keySet().forEach(monitor -> open.put(monitor, new ArrayList<>()));
    kept.forEach(this::failed);
  }

  /** Ends the waiting; what is being written or queued already has its own answer. */
  void cancel(Refusal answer) {
    cancelled = answer;
    HeldRequest held = current;
    if (held != null && queue.requests.refuse(held, answer)) {
      queue.stats.count(LockType.BACKGROUND, Stats.Count.CANCELLED);
    }
  }

  /** Completed when each item has its answer: at its place among the request's items, null for those of others. */
  CompletableFuture<BulkItemResponse[]> run() {
    next();
    return end;
  }

  /**
   * The response to the whole request.
   *
   * @param response to the other items; null: none of them was done
   * @param problem why, then
   * @param answers of late items, at their places
   */
  static BulkShardResponse merge(
      BulkShardRequest request, BulkShardResponse response, Exception problem, BulkItemResponse[] answers) {
    BulkItemResponse[] all = new BulkItemResponse[answers.length];
    ShardInfo copies = response == null ? null : response.getShardInfo();
    for (int i = 0; i < all.length; ++i) {
      if (answers[i] == null) {
        all[i] = response == null ? failure(request, i, problem) : response.getResponses()[i];
      } else {
        all[i] = answers[i];
        copies = copies == null && !all[i].isFailed() ? all[i].getResponse().getShardInfo() : copies;
      }
    }
    BulkShardResponse merged = new BulkShardResponse(request.shardId(), all);
    merged.setShardInfo(copies == null ? new ShardInfo() : copies);
    return merged;
  }

  private void failed(String monitor, ForelockException reason) {
    boolean kept = reason == null || reason.code() == ErrorCode.LOCK_UNAVAILABLE;
    String code = Names.of(kept ? ErrorCode.LOCK_TIMEOUT : reason.code());
    failed(monitor, code, Refusals.kept(monitor, reason, "").getMessage());
  }

  private void failed(String monitor, String code, String message) {
    Duration waited = Duration.ofNanos(Math.max(0, System.nanoTime() - since));
    List<FailedAttempt> failures = open.get(monitor);
    failures.add(new FailedAttempt(Instant.now(), code, shortened(message), waited));
    int silent = failures.size() - 1 - LAST_MESSAGES;
    if (silent > 0) {
      FailedAttempt one = failures.get(silent);
      failures.set(silent, new FailedAttempt(one.at(), one.code(), "", one.waited()));
    }
  }

  /** At most so many bytes as a letter takes, and no half of a character. */
  private static String shortened(String message) {
    byte[] bytes = message.getBytes(StandardCharsets.UTF_8);
    if (bytes.length <= MAX_MESSAGE_BYTES) {
      return message;
    }
    int end = MAX_MESSAGE_BYTES;
    while ((bytes[end] & 0xc0) == 0x80) {
      --end;
    }
    return new String(bytes, 0, end, StandardCharsets.UTF_8);
  }

  private void next() {
    try {
      tryNext();
    } catch (RuntimeException problem) {
      refuse(problem);
    }
  }

  private void tryNext() {
    if (open.isEmpty()) {
      complete();
      return;
    }
    HeldRequest held = queue.requests.takeOver(current, this::attempt);
    if (held == null) {
      refuse(Refusals.closing());
      return;
    }
    // Held in the pause, so that it can be cancelled; then it does not begin.
    if (!mayGoOn(held)) {
      return;
    }
    if (attempts > queue.letters.retries()) {
      // It counts until it is durable: a slow queue delays later requests.
      queue.workers.block(() -> surrender(held), problem -> queue.requests.fail(held, problem));
      return;
    }
    queue.workers.later(WriteQueue.pauseMillis(attempts++), () -> {
      since = System.nanoTime();
      held.locks.acquire(timeoutMillis, problem -> queue.workers.write(
          () -> decided(held, problem), broken -> queue.requests.fail(held, broken)),
          defect -> queue.requests.fail(held, defect));
    }, broken -> queue.requests.fail(held, broken));
  }

  private HeldRequest attempt(LockType type) {
    DocumentLocks locks = DocumentLocks.of(plan, queue.source, open.keySet(), type);
    return new HeldRequest(queue.requests.nextTicket(), task, action, LockType.BACKGROUND, locks,
        HeldRequest.OWN_BYTES + plan.bytes, System.nanoTime(), this::refuse);
  }

  /** Makes it what can be cancelled. Only when it counts, as it must not begin to do so behind its end. */
  private boolean mayGoOn(HeldRequest held) {
    current = held;
    if (cancelled != null) {
      queue.requests.refuse(held, cancelled);
    }
    return held.held();
  }

  /** The places of the items of these monitors that have no answer. */
  private List<Integer> items(Set<String> monitors) {
    List<Integer> items = new ArrayList<>();
    for (int i = 0; i < answers.length; ++i) {
      if (answers[i] == null && plan.itemMonitors[i] != null && monitors.contains(plan.itemMonitors[i])) {
        items.add(i);
      }
    }
    return items;
  }

  private void decided(HeldRequest held, ForelockException problem) {
    if (problem != null && !problem.retryable()) {
      if (queue.requests.refuse(held, Refusals.notObtained(problem))) {
        queue.stats.count(LockType.BACKGROUND, Stats.Count.FAILED);
      }
      return;
    }
    if (!queue.requests.runCounted(held)) {
      return;
    }
    Map<String, ForelockException> kept = held.locks.refused();
    if (problem != null) {
      open.keySet().forEach(monitor -> failed(monitor, problem));
    } else {
      kept.forEach(this::failed);
    }
    Set<String> granted = new HashSet<>(open.keySet());
    granted.removeAll(kept.keySet());
    if (problem != null || granted.isEmpty()) {
      queue.requests.endCounted(held, null);
      next();
    } else {
      queue.stats.granted(LockType.BACKGROUND, System.nanoTime() - since);
      write(held, items(granted), granted);
    }
  }

  /**
   * As another part of a bulk for the same shard, which passes under the locks of this request. Not as a bulk: by the
   * names in it another index could be found, or made, that is not what the client wrote into.
   */
  private void write(HeldRequest held, List<Integer> items, Set<String> granted) {
    BulkItemRequest[] writes = items.stream().map(i -> request.items()[i])
        .map(item -> new BulkItemRequest(item.id(), item.request())).toArray(BulkItemRequest[]::new);
    BulkShardRequest bulk = new BulkShardRequest(request.shardId(), request.getRefreshPolicy(), writes);
    bulk.waitForActiveShards(request.waitForActiveShards());
    bulk.timeout(request.timeout());
    bulk.setParentTask(queue.node.get(), task.getId());
    Guard guard = new Guard(queue.node.get(), held.ticket, held.locks.token(), DocumentTokens.NONE,
        queue.namespace.get(), "");
    ActionListener<BulkShardResponse> listener = new ActionListener<>() {
      @Override
      public void onResponse(BulkShardResponse response) {
        if (!queue.requests.endCounted(held, unanswered(held, response.getResponses()))) {
          return;
        }
        for (int k = 0; k < items.size(); ++k) {
          answer(items.get(k), response.getResponses()[k], response.getShardInfo());
        }
        written(granted);
      }

      @Override
      public void onFailure(Exception problem) {
        if (queue.requests.endCounted(held, problem)) {
          if (!lockWasLost(problem)) {
            items.forEach(i -> answers[i] = failure(i, problem));
          }
          written(granted);
        }
      }
    };
    try (StoredContext ignored = caller.get();
        StoredContext inner = Carrier.with(queue.context, Headers.UPDATE_GUARD, guard.text())) {
      queue.writer.write(bulk, listener);
    } catch (RuntimeException problem) {
      listener.onFailure(problem);
    }
  }

  /** @return an item's failure by which it is not known what has become of it; null: there is none */
  private static Exception unanswered(HeldRequest held, BulkItemResponse[] items) {
    for (BulkItemResponse item : items) {
      if (item.isFailed() && (held.sentAgain() || PrimaryAnswer.isMissing(item.getFailure().getCause()))) {
        return item.getFailure().getCause();
      }
    }
    return null;
  }

  private void answer(int i, BulkItemResponse response, ShardInfo copies) {
    BulkItemRequest item = request.items()[i];
    if (!response.isFailed()) {
      DocWriteResponse done = response.getResponse();
      done.setShardInfo(copies);
      answers[i] = new BulkItemResponse(item.id(), item.request().opType(), done);
    } else if (!lockWasLost(response.getFailure().getCause())) {
      answers[i] = new BulkItemResponse(item.id(), item.request().opType(), response.getFailure());
    }
  }

  private static boolean lockWasLost(Exception problem) {
    Throwable cause = ExceptionsHelper.unwrapCause(problem);
    List<String> code = cause instanceof OpenSearchException
        ? ((OpenSearchException) cause).getMetadata(Answers.CODE) : null;
    return code != null && code.contains(Names.of(ErrorCode.LOCK_UNHEALTHY));
  }

  private void written(Set<String> granted) {
    for (String monitor : granted) {
      if (items(Set.of(monitor)).isEmpty()) {
        open.remove(monitor);
      } else {
        failed(monitor, Names.of(ErrorCode.LOCK_UNHEALTHY), Refusals.uncertain(monitor).getMessage());
      }
    }
    next();
  }

  /** Makes the rest dead letters, in order; after one that no queue accepted, none of the same monitor. */
  private void surrender(HeldRequest held) {
    if (!queue.requests.runCounted(held)) {
      return;
    }
    Map<String, String> lost = new HashMap<>();
    for (int i : items(open.keySet())) {
      String monitor = plan.itemMonitors[i];
      List<FailedAttempt> failures = open.get(monitor);
      FailedAttempt last = failures.get(failures.size() - 1);
      if (!lost.containsKey(monitor)) {
        try {
          DocWriteRequest<?> write = request.items()[i].request();
          byte[] payload = WriteLetter.payload(target(write), write);
          answers[i] = failure(i, Refusals.queued(monitor, queue.letters.put(monitor, plan.info, payload, failures),
              last.message()));
          queue.stats.deadLettered.increment();
          continue;
        } catch (RuntimeException problem) { // a write must not go without an answer, whatever it consists of
          boolean told = problem instanceof ForelockException || problem instanceof IllegalArgumentException;
          lost.put(monitor, told ? problem.getMessage() : problem.toString());
        }
      }
      queue.stats.refusedItems.increment();
      answers[i] = failure(i, Refusals.notQueued(monitor, last, lost.get(monitor)));
    }
    queue.requests.end(held);
    complete();
  }

  private void complete() {
    queue.requests.leave(current);
    end.complete(answers);
  }

  /** A stream takes new documents alone, in its newest index; the others are reached in the index where they are. */
  private String target(DocWriteRequest<?> write) {
    return write.opType() == DocWriteRequest.OpType.CREATE ? stream : request.shardId().getIndexName();
  }

  private void refuse(Exception problem) {
    items(open.keySet()).forEach(i -> answers[i] = failure(i, problem));
    complete();
  }

  private BulkItemResponse failure(int i, Exception problem) {
    return failure(request, i, problem);
  }

  private static BulkItemResponse failure(BulkShardRequest request, int i, Exception problem) {
    BulkItemRequest item = request.items()[i];
    return new BulkItemResponse(item.id(), item.request().opType(),
        new BulkItemResponse.Failure(request.shardId().getIndexName(), item.request().id(), Answers.of(problem)));
  }
}
