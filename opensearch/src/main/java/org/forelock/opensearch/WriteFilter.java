package org.forelock.opensearch;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.forelock.ForelockException;
import org.opensearch.OpenSearchStatusException;
import org.opensearch.action.ActionRequest;
import org.opensearch.action.bulk.BulkRequest;
import org.opensearch.action.bulk.BulkShardRequest;
import org.opensearch.action.bulk.BulkShardResponse;
import org.opensearch.action.support.ActionFilter;
import org.opensearch.action.support.ActionFilterChain;
import org.opensearch.common.util.concurrent.AbstractRunnable;
import org.opensearch.common.util.concurrent.ThreadContext;
import org.opensearch.common.util.concurrent.ThreadContext.StoredContext;
import org.opensearch.core.action.ActionListener;
import org.opensearch.core.action.ActionResponse;
import org.opensearch.tasks.Task;
import org.opensearch.threadpool.ThreadPool;

/**
 * A WriteFilter holds each write into a guarded index until its locks are there. Thread-safe; no thread ever waits.
 *
 * <p>Every write passes once for each shard, as a shard bulk; there its documents are known, whatever aliases and
 * pipelines made of it. An update reads before that, so it is held where it comes in, and what becomes of it passes.
 */
final class WriteFilter implements ActionFilter {
  private static final String WRITES = "indices:data/write/";
  private static final Set<String> BACKGROUND_ACTIONS = Set.of(
      "indices:data/write/update/byquery", "indices:data/write/delete/byquery", "indices:data/write/reindex");
  private static final String BULK = "indices:data/write/bulk";

  private final ForelockSettings settings;
  private final WritePlanner planner;
  private final HeldRequests requests;
  private final LockSource source;
  private final Timeouts timeouts;
  private final HolderLook holders;
  private final Stats stats;
  private final ThreadPool threads;
  private final ThreadContext context;
  private final Disconnections disconnections = new Disconnections();

  WriteFilter(ForelockSettings settings, WritePlanner planner, HeldRequests requests, LockSource source,
      Timeouts timeouts, HolderLook holders, Stats stats, ThreadPool threads) {
    this.settings = settings;
    this.planner = planner;
    this.requests = requests;
    this.source = source;
    this.timeouts = timeouts;
    this.holders = holders;
    this.stats = stats;
    this.threads = threads;
    this.context = threads.getThreadContext();
  }

  /** Behind all others: what they refuse needs no lock. */
  @Override
  public int order() {
    return Integer.MAX_VALUE;
  }

  @Override
  public <Q extends ActionRequest, R extends ActionResponse> void apply(
      Task task, String action, Q request, ActionListener<R> listener, ActionFilterChain<Q, R> chain) {
    if (!settings.enabled() || !action.startsWith(WRITES)) {
      chain.proceed(task, action, request, listener);
      return;
    }
    if (isBulkWork(action, request)) {
      Call<Q, R> call = new Call<>(task, action, request, listener, chain);
      call.proceed(Headers.BACKGROUND, "true", () -> {});
      return;
    }
    WritePlan plan;
    try {
      plan = planner.plan(action, request);
    } catch (IllegalArgumentException invalid) {
      listener.onFailure(invalid);
      return;
    }
    if (plan == null) {
      chain.proceed(task, action, request, listener);
      return;
    }
    Call<Q, R> call = new Call<>(task, action, request, listener, chain);
    if (plan.coveredBy != null) {
      call.proceed(Headers.GUARD, plan.coveredBy, () -> {});
    } else {
      call.hold(plan);
    }
  }

  /** Whether all that descends from it is background work, unless the client says otherwise. */
  private boolean isBulkWork(String action, ActionRequest request) {
    boolean bulkWork = BACKGROUND_ACTIONS.contains(action) || action.equals(BULK)
        && request instanceof BulkRequest
        && ((BulkRequest) request).numberOfActions() > settings.bulkForegroundMax();
    return bulkWork && context.getHeader(Headers.BACKGROUND) == null;
  }

  /** One request on its way through the filter, and the context that it came with. */
  private final class Call<Q extends ActionRequest, R extends ActionResponse> {
    private final Task task;
    private final String action;
    private final Q request;
    private final ActionListener<R> listener;
    private final ActionFilterChain<Q, R> chain;
    private final Supplier<StoredContext> caller = context.newRestorableContext(true);
    private final boolean report = Headers.wantsReport(context);
    private volatile Runnable unwatch = () -> {};

    Call(Task task, String action, Q request, ActionListener<R> listener, ActionFilterChain<Q, R> chain) {
      this.task = task;
      this.action = action;
      this.request = request;
      this.listener = listener;
      this.chain = chain;
    }

    /** Goes on with one header more, which the caller does not get to see. */
    void proceed(String header, String value, Runnable done) {
      ActionListener<R> answer = new ActionListener<>() {
        @Override
        public void onResponse(R response) {
          done.run();
          try (StoredContext ignored = caller.get()) {
            listener.onResponse(response);
          }
        }

        @Override
        public void onFailure(Exception problem) {
          done.run();
          fail(problem);
        }
      };
      // What is done in the background goes on when the client that has begun it goes.
      List<String> forgotten = BACKGROUND_ACTIONS.contains(action) ? List.of(Disconnections.KEY) : List.of();
      try (StoredContext ignored = caller.get(); StoredContext without = context.newStoredContext(true, forgotten)) {
        context.putHeader(header, value);
        chain.proceed(task, action, request, answer);
      } catch (RuntimeException problem) {
        answer.onFailure(problem);
      }
    }

    private void fail(Exception problem) {
      unwatch.run();
      try (StoredContext ignored = caller.get()) {
        listener.onFailure(problem);
      }
    }

    void hold(WritePlan plan) {
      long now = System.nanoTime();
      DocumentLocks locks = new DocumentLocks(source, plan.info, plan.monitors, plan.type, System::nanoTime);
      HeldRequest held = new HeldRequest(
          requests.nextTicket(), task, action, plan.type, locks, plan.bytes, now, this::fail);
      switch (requests.admit(held)) {
        case TOO_MANY:
          stats.count(plan.type, Stats.Count.TOO_MANY);
          context.addResponseHeader(Headers.RETRY_AFTER, Long.toString(settings.retryAfterSeconds()));
          listener.onFailure(Refusals.tooMany(plan.type));
          return;
        case CLOSED:
          listener.onFailure(Refusals.closing());
          return;
        default:
          unwatch = disconnections.watch(context,
              () -> refuse(held, Refusals.cancelled("the client has gone"), Stats.Count.CANCELLED));
          locks.acquire(timeouts.millis(plan.type, plan.timeoutMillis), problem -> decided(held, plan, problem));
      }
    }

    private void decided(HeldRequest held, WritePlan plan, ForelockException problem) {
      Map<String, ForelockException> kept = held.locks.refused();
      if (problem != null) {
        onWriteThread(held, () -> notObtained(held, plan, problem));
      } else if (kept.isEmpty()) {
        onWriteThread(held, () -> granted(held, plan, Map.of()));
      } else {
        holders.tell(kept.keySet(), texts -> onWriteThread(held, () -> granted(held, plan, answers(kept, texts))));
      }
    }

    private Map<String, OpenSearchStatusException> answers(
        Map<String, ForelockException> kept, Map<String, String> texts) {
      Map<String, OpenSearchStatusException> answers = new HashMap<>();
      kept.forEach((monitor, reason) ->
          answers.put(monitor, Refusals.kept(monitor, reason, texts.getOrDefault(monitor, ""))));
      return answers;
    }

    private void onWriteThread(HeldRequest held, Runnable task) {
      threads.executor(ThreadPool.Names.WRITE).execute(new AbstractRunnable() {
        @Override
        protected void doRun() {
          unwatch.run();
          task.run();
        }

        @Override
        public boolean isForceExecution() {
          return true;
        }

        @Override
        public void onFailure(Exception rejected) {
          requests.refuse(held, Refusals.closing());
        }
      });
    }

    /** @param refusals the answers for monitors that others kept */
    private void granted(HeldRequest held, WritePlan plan, Map<String, OpenSearchStatusException> refusals) {
      if (plan.update && !refusals.isEmpty()) {
        refuse(held, refusals.values().iterator().next(), Stats.Count.TIMED_OUT);
        return;
      }
      if (!held.locks.certain()) {
        refuse(held, Refusals.uncertain(held.locks.firstMonitor()), Stats.Count.UNCERTAIN);
        return;
      }
      if (!requests.run(held)) {
        return;
      }
      if (!refusals.isEmpty()) {
        KeptItems items = new KeptItems((BulkShardRequest) request, plan.itemMonitors, refusals);
        if (items.all()) {
          stats.count(plan.type, Stats.Count.TIMED_OUT);
          requests.end(held);
          answer(items.response());
          return;
        }
        stats.refusedItems.add(items.count());
        items.leaveOut();
      }
      long waited = System.nanoTime() - held.since;
      stats.granted(plan.type, waited);
      long token = held.locks.token();
      String monitor = plan.update ? held.locks.firstMonitor() : "";
      Guard guard = new Guard(planner.localNode(), held.ticket, token, monitor);
      proceed(plan.update ? Headers.UPDATE_GUARD : Headers.GUARD, guard.text(), () -> {
        requests.end(held);
        if (report) {
          context.addResponseHeader(Headers.WAIT_MS, Long.toString(waited / 1_000_000));
          context.addResponseHeader(Headers.TOKEN, Long.toString(token));
        }
      });
    }

    /** Of a shard bulk, whose response is what its listener takes. */
    @SuppressWarnings("unchecked")
    private void answer(BulkShardResponse response) {
      try (StoredContext ignored = caller.get()) {
        listener.onResponse((R) response);
      }
    }

    private void notObtained(HeldRequest held, WritePlan plan, ForelockException problem) {
      boolean unavailable = Refusals.unavailable(problem.code());
      if (unavailable && settings.onUnavailable() == ForelockSettings.OnUnavailable.ALLOW) {
        if (requests.run(held)) {
          stats.count(plan.type, Stats.Count.ALLOWED);
          proceed(plan.update ? Headers.UPDATE_GUARD : Headers.GUARD, Guard.ALLOWED.text(), () -> requests.end(held));
        }
        return;
      }
      refuse(held, Refusals.notObtained(problem), unavailable ? Stats.Count.UNAVAILABLE : Stats.Count.FAILED);
    }

    private void refuse(HeldRequest held, OpenSearchStatusException answer, Stats.Count count) {
      if (requests.refuse(held, answer)) {
        stats.count(held.type, count);
      }
    }
  }
}
