package org.forelock.opensearch;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.forelock.ForelockException;
import org.forelock.LockType;
import org.forelock.search.DocumentLocks;
import org.forelock.search.Guard;
import org.forelock.search.Headers;
import org.forelock.search.HeldLocks;
import org.forelock.search.HeldRequest;
import org.forelock.search.HeldRequests;
import org.forelock.search.HolderLook;
import org.forelock.search.HolderTokens;
import org.forelock.search.LockSource;
import org.forelock.search.PartReports;
import org.forelock.search.Refusal;
import org.forelock.search.Refusals;
import org.forelock.search.Stats;
import org.forelock.search.Timeouts;
import org.forelock.search.UnguardedPeriods;
import org.forelock.search.Words;
import org.forelock.search.WriteLocks;
import org.forelock.search.WritePlan;
import org.opensearch.action.ActionRequest;
import org.opensearch.action.bulk.BulkItemResponse;
import org.opensearch.action.bulk.BulkRequest;
import org.opensearch.action.bulk.BulkShardRequest;
import org.opensearch.action.bulk.BulkShardResponse;
import org.opensearch.action.support.ActionFilter;
import org.opensearch.action.support.ActionFilterChain;
import org.opensearch.common.unit.TimeValue;
import org.opensearch.common.util.concurrent.ThreadContext;
import org.opensearch.common.util.concurrent.ThreadContext.StoredContext;
import org.opensearch.core.action.ActionListener;
import org.opensearch.core.action.ActionResponse;
import org.opensearch.tasks.Task;

/**
 * A WriteFilter holds each write into a guarded index until its locks are there. Thread-safe; no thread ever waits.
 *
 * <p>Every write passes once for each shard, as a shard bulk; there its documents are known, whatever aliases and
 * pipelines made of it. An update reads before that, so it is held where it comes in, and what becomes of it passes.
 */
final class WriteFilter implements ActionFilter {
  static final String WRITES = "indices:data/write/";
  private static final Set<String> BACKGROUND_ACTIONS = Set.of(
      "indices:data/write/update/byquery", "indices:data/write/delete/byquery", "indices:data/write/reindex");
  /** They become bulks of one, whose client takes no answer for an item. */
  private static final Set<String> SINGLE_ACTIONS =
      Set.of("indices:data/write/index", "indices:data/write/delete", "indices:data/write/update");
  private static final String BULK = "indices:data/write/bulk";

  private final ForelockSettings settings;
  private final WritePlanner planner;
  private final HeldRequests requests;
  private final LockSource source;
  private final Timeouts timeouts;
  private final HolderLook holders;
  private final HolderTokens tokens;
  private final Stats stats;
  private final UnguardedPeriods unguarded;
  private final Workers workers;
  private final ThreadContext context;
  private final Words words;
  /** Null: there is none. */
  private final WriteQueue queue;
  private final Refreshes refreshes;
  private final Disconnections disconnections = new Disconnections();

  WriteFilter(ForelockSettings settings, WritePlanner planner, HeldRequests requests, LockSource source,
      Timeouts timeouts, HolderLook holders, HolderTokens tokens, Stats stats, UnguardedPeriods unguarded,
      Workers workers, ThreadContext context, WriteQueue queue, Refreshes refreshes) {
    this.settings = settings;
    this.planner = planner;
    this.requests = requests;
    this.source = source;
    this.timeouts = timeouts;
    this.holders = holders;
    this.tokens = tokens;
    this.stats = stats;
    this.unguarded = unguarded;
    this.workers = workers;
    this.context = context;
    this.words = Carrier.words(context);
    this.queue = queue;
    this.refreshes = refreshes;
  }

  /** Behind all others: what they refuse needs no lock. */
  @Override
  public int order() {
    return Integer.MAX_VALUE;
  }

  @Override
  public <Q extends ActionRequest, R extends ActionResponse> void apply(
      Task task, String action, Q request, ActionListener<R> listener, ActionFilterChain<Q, R> chain) {
    if (!action.startsWith(WRITES)) {
      chain.proceed(task, action, request, listener);
      return;
    }
    WritePlan plan;
    boolean concerned;
    boolean single;
    try {
      boolean ofTheNode = planner.isOfTheNode(); // then no word of a client counts, not even an invalid one
      if (!ofTheNode) {
        Headers.wantsReport(words); // or it is invalid
      }
      concerned = !ofTheNode && Headers.requiresLock(words) || settings.enabled();
      single = concerned && !ofTheNode && SINGLE_ACTIONS.contains(action) && Headers.wantsQueue(words);
      if (concerned && ofTheNode && Carrier.get(context, Headers.OF_NODE) == null) {
        new Call<>(task, action, request, listener, chain).proceed(Headers.OF_NODE, "true");
        return;
      }
      if (concerned && !ofTheNode) {
        checkQueue(action);
      }
      if (concerned && isBulkWork(action, request)) {
        Call<Q, R> call = new Call<>(task, action, request, listener, chain);
        String value = BACKGROUND_ACTIONS.contains(action) ? Headers.BACKGROUND_JOB : "true";
        call.proceed(Headers.BACKGROUND, value);
        return;
      }
      if (concerned) {
        plan = settings.enabled() ? planner.plan(action, request) : planner.refuseUnguarded(request);
      } else {
        plan = null;
      }
    } catch (IllegalArgumentException | Refusal invalid) {
      listener.onFailure(Answers.of(invalid));
      return;
    }
    if (plan == null && single) {
      new Call<>(task, action, request, listener, chain).proceed(Headers.NO_QUEUE, "true");
      return;
    }
    if (concerned && action.equals(BULK) && BulkReports.of(context) == null) {
      new Call<>(task, action, request, listener, chain).proceed(null, null);
      return;
    }
    if (plan == null) {
      // Of another write, within which this one began: its locks have nothing to do with it.
      try (StoredContext ignored = Carrier.without(context, List.of(Headers.GUARD))) {
        chain.proceed(task, action, request, listener);
      }
      return;
    }
    Call<Q, R> call = new Call<>(task, action, request, listener, chain);
    if (plan.coveredBy != null) {
      call.proceed(Headers.GUARD, plan.coveredBy);
    } else if (planner.copies.enough(request)) {
      call.hold(plan);
    } else {
      call.holdLater(plan);
    }
  }

  /**
   * A client that counts on the queue must not be told a time-out by a node that has none. Not so what an update, or a
   * job that the node does, sends as a bulk: the word has no effect for it.
   */
  private void checkQueue(String action) {
    boolean within = Carrier.get(context, Headers.UPDATE_GUARD) != null
        || Headers.BACKGROUND_JOB.equals(Carrier.get(context, Headers.BACKGROUND));
    if (action.equals(BULK) && !within && Headers.wantsQueue(words) && queue == null) {
      throw new IllegalArgumentException(
          Headers.QUEUE + ": this node has no dead-letter queue; forelock.queue.mode is off");
    }
  }

  /** Whether all that descends from it is background work, unless the client says otherwise. */
  private boolean isBulkWork(String action, ActionRequest request) {
    boolean bulkWork = BACKGROUND_ACTIONS.contains(action) || action.equals(BULK)
        && request instanceof BulkRequest
        && ((BulkRequest) request).numberOfActions() > settings.bulkForegroundMax();
    return bulkWork && Carrier.get(context, Headers.BACKGROUND) == null;
  }

  /** One request on its way through the filter, and the context that it came with. */
  private final class Call<Q extends ActionRequest, R extends ActionResponse> {
    private final Task task;
    private final String action;
    private final Q request;
    private final ActionListener<R> listener;
    private final ActionFilterChain<Q, R> chain;
    private final Supplier<StoredContext> caller = context.newRestorableContext(true);
    private final boolean report = !planner.isOfTheNode() && Headers.wantsReport(words);
    private final boolean required = !planner.isOfTheNode() && Headers.requiresLock(words);
    /** Of the bulk that it is part of; null: of none. */
    private final PartReports bulk = BulkReports.of(context);
    private final boolean mayQueue;
    /** Whether the answer waits for a refresh, without the locks. */
    private boolean awaitsRefresh;
    private volatile Runnable unwatch = () -> {};
    private volatile Runnable unwatchLate = () -> {};
    /** The thread that asks for the locks, as long as it does: those that have lingered are there before it goes. */
    private volatile Thread asking;
    /** What that thread goes on with then. */
    private Runnable own;
    /** The answers of items that are tried again, at their places; null: there are none. */
    private volatile CompletableFuture<BulkItemResponse[]> late;

    Call(Task task, String action, Q request, ActionListener<R> listener, ActionFilterChain<Q, R> chain) {
      this.task = task;
      this.action = action;
      this.request = request;
      this.listener = listener;
      this.chain = chain;
      this.mayQueue = mayQueue();
    }

    void proceed(String name, String value) {
      proceed(name, value, problem -> {}, problem -> {});
    }

    /**
     * Goes on with one word more for what follows, which the caller does not get to see.
     *
     * @param name null: none
     * @param before is done before the caller is answered; gets the problem, if there is one
     * @param after is done when the caller has been
     */
    void proceed(String name, String value, Consumer<Exception> before, Consumer<Exception> after) {
      ActionListener<R> answer = new ActionListener<>() {
        @Override
        public void onResponse(R response) {
          end(response, null);
        }

        @Override
        public void onFailure(Exception problem) {
          unwatch.run();
          end(null, problem);
        }

        private void end(R response, Exception problem) {
          try {
            before.accept(problem);
            if (!awaitsRefresh || problem != null) {
              deliver(response, problem);
              return;
            }
          } finally {
            after.accept(problem);
          }
          RefreshWait.await(response, refreshes, () -> deliver(response, null));
        }
      };
      try (StoredContext ignored = caller.get(); StoredContext without = Carrier.without(context, forgotten(name));
          StoredContext with = name == null ? null : Carrier.with(context, name, value)) {
        chain.proceed(task, action, request, collecting(answer));
      } catch (RuntimeException problem) {
        answer.onFailure(problem);
      }
    }

    private List<String> forgotten(String name) {
      if (Headers.OF_NODE.equals(name)) { // of another write, within which this one began
        return List.of(Headers.GUARD, Headers.UPDATE_GUARD);
      }
      if (name == null) {
        return List.of(Headers.GUARD);
      }
      // What is done in the background goes on when the client that has begun it goes.
      return BACKGROUND_ACTIONS.contains(action) ? List.of(Disconnections.KEY) : List.of();
    }

    /** Of a bulk, with what its parts have for the headers of the response. */
    private ActionListener<R> collecting(ActionListener<R> answer) {
      if (!action.equals(BULK) || bulk != null) {
        return answer;
      }
      PartReports reports = BulkReports.begin(context);
      return ActionListener.runBefore(answer, () -> reports.send(context::addResponseHeader));
    }

    /** With the response to the bulk, of which it is a part, or to the write itself. */
    private void tell(Consumer<PartReports> what) {
      PartReports reports = bulk == null ? new PartReports() : bulk;
      what.accept(reports);
      if (bulk == null) {
        reports.send(context::addResponseHeader);
      }
    }

    private void fail(Exception problem) {
      unwatch.run();
      tellWhen(problem);
      deliver(null, problem);
    }

    /** Whoever may try again is told when. */
    private void tellWhen(Exception problem) {
      if (problem instanceof Refusal && ((Refusal) problem).tryAgain()) {
        tell(reports -> reports.tryAgainAfter(settings.retryAfterSeconds()));
      }
    }

    /** @param problem null: the response */
    private void deliver(R response, Exception problem) {
      CompletableFuture<BulkItemResponse[]> waiting = late;
      if (waiting == null) {
        answer(response, problem);
      } else {
        waiting.thenAccept(answers -> {
          unwatchLate.run();
          merge(response, problem, answers);
        });
      }
    }

    private void merge(R response, Exception problem, BulkItemResponse[] answers) {
      R merged;
      try {
        merged = shardResponse(
            LateItems.merge((BulkShardRequest) request, (BulkShardResponse) response, problem, answers));
      } catch (RuntimeException broken) {
        answer(null, broken);
        return;
      }
      answer(merged, null);
    }

    private void answer(R response, Exception problem) {
      try (StoredContext ignored = caller.get()) {
        if (problem == null) {
          listener.onResponse(response);
        } else {
          listener.onFailure(Answers.of(problem));
        }
      }
    }

    /** What the listener of a shard bulk takes. */
    @SuppressWarnings("unchecked")
    private R shardResponse(BulkShardResponse response) {
      return (R) response;
    }

    /** A job would end at an item that is queued; what is part of a late write is under its lock. */
    private boolean mayQueue() {
      return queue != null && request instanceof BulkShardRequest && !planner.isOfTheNode()
          && Headers.wantsQueue(words) && Carrier.get(context, Headers.UPDATE_GUARD) == null
          && !Headers.BACKGROUND_JOB.equals(Carrier.get(context, Headers.BACKGROUND));
    }

    private boolean queued(WritePlan plan) {
      return mayQueue && plan.type == LockType.BACKGROUND && plan.held == null;
    }

    /** @param held its locks were not all obtained; it counts still */
    private void tryAgain(WritePlan plan, Map<String, ForelockException> kept, HeldRequest held) {
      BulkShardRequest bulk = (BulkShardRequest) request;
      LateItems items = new LateItems(queue, task, action, bulk, planner.writeName(bulk.shardId().getIndexName()), plan,
          timeouts.millis(plan.type, plan.timeoutMillis), caller, kept, held);
      try (StoredContext ignored = caller.get()) {
        unwatchLate = disconnections.watch(context, () -> items.cancel(Refusals.cancelled("the client has gone")));
      }
      late = items.run();
    }

    /** When there are as many copies as the write waits for: it keeps no lock from others until then. */
    void holdLater(WritePlan plan) {
      TimeValue timeout = plan.timeoutMillis < 0 ? null : TimeValue.timeValueMillis(plan.timeoutMillis);
      planner.copies.await(request, timeout, ActionListener.wrap(enough -> workers.write(() -> {
        try (StoredContext ignored = caller.get()) {
          hold(plan);
        }
      }, this::fail), this::fail));
    }

    void hold(WritePlan plan) {
      long now = System.nanoTime();
      WriteLocks locks = plan.held == null
          ? new DocumentLocks(source, plan.info, plan.monitors, plan.type, plan.fenced, System::nanoTime)
          : new HeldLocks(tokens, plan.held, plan.monitors, plan.tokens, System::nanoTime);
      HeldRequest held = new HeldRequest(
          requests.nextTicket(), task, action, plan.type, locks, HeldRequest.OWN_BYTES + plan.bytes, now,
          this::fail);
      switch (requests.admit(held)) {
        case TOO_MANY:
          stats.count(plan.type, Stats.Count.TOO_MANY);
          fail(Refusals.tooMany(plan.type));
          return;
        case TOO_LARGE:
          stats.count(plan.type, Stats.Count.TOO_MANY);
          deliver(null, Refusals.tooLarge(plan.type, held.bytes, settings.maxBytes(plan.type)));
          return;
        case CLOSED:
          deliver(null, Refusals.closing());
          return;
        default:
          unwatch = disconnections.watch(context,
              () -> refuse(held, Refusals.cancelled("the client has gone"), Stats.Count.CANCELLED));
          asking = Thread.currentThread();
          try {
            locks.acquire(timeouts.millis(plan.type, plan.timeoutMillis), problem -> decided(held, plan, problem),
                defect -> requests.fail(held, defect));
          } catch (RuntimeException broken) {
            requests.fail(held, broken);
          } finally {
            asking = null;
          }
          goOn(held);
      }
    }

    private void goOn(HeldRequest held) {
      Runnable work = own;
      own = null;
      try {
        if (work != null) {
          work.run();
        }
      } catch (RuntimeException broken) {
        requests.fail(held, broken);
      }
    }

    private void decided(HeldRequest held, WritePlan plan, ForelockException problem) {
      try {
        decide(held, plan, problem);
      } catch (RuntimeException broken) {
        requests.fail(held, broken);
      }
    }

    private void decide(HeldRequest held, WritePlan plan, ForelockException problem) {
      Map<String, ForelockException> kept = held.locks.refused();
      if (problem != null) {
        onWriteThread(held, () -> notObtained(held, plan, problem));
      } else if (kept.isEmpty() || queued(plan)) {
        onWriteThread(held, () -> granted(held, plan,
            plan.held != null ? held.locks.notHeld() : answers(kept, Map.of())));
      } else {
        holders.tell(kept.keySet(), texts -> onWriteThread(held, () -> granted(held, plan, answers(kept, texts))));
      }
    }

    private Map<String, Refusal> answers(
        Map<String, ForelockException> kept, Map<String, String> texts) {
      Map<String, Refusal> answers = new HashMap<>();
      kept.forEach((monitor, reason) ->
          answers.put(monitor, Refusals.kept(monitor, reason, texts.getOrDefault(monitor, ""))));
      return answers;
    }

    /** Unless this is the caller's own thread still: it would have gone on without a lock, too, and soon does so. */
    private void onWriteThread(HeldRequest held, Runnable task) {
      Runnable work = () -> {
        unwatch.run();
        task.run();
      };
      if (Thread.currentThread() == asking) {
        own = work;
      } else {
        workers.write(work, broken -> requests.fail(held, broken));
      }
    }

    /** @param refusals the answers for monitors that others kept */
    private void granted(HeldRequest held, WritePlan plan, Map<String, Refusal> refusals) {
      if (plan.update && !refusals.isEmpty()) {
        refuse(held, refusals.values().iterator().next(), refusal(plan));
        return;
      }
      if (!held.locks.certain()) {
        refuse(held, Refusals.uncertain(held.locks.firstMonitor()), Stats.Count.UNCERTAIN);
        return;
      }
      boolean late = queued(plan) && !refusals.isEmpty();
      if (!(late ? requests.runCounted(held) : requests.run(held))) {
        return;
      }
      if (!refusals.isEmpty()) {
        KeptItems items = new KeptItems((BulkShardRequest) request, plan.itemMonitors, refusals);
        if (late) {
          tryAgain(plan, held.locks.refused(), held);
        } else {
          refusals.values().stream().limit(1).forEach(this::tellWhen); // all have one status
          stats.refusedItems.add(items.all() ? 0 : items.count());
        }
        if (items.all()) {
          R response = shardResponse(items.response());
          stats.count(plan.type, refusal(plan));
          requests.end(held);
          deliver(response, null);
          return;
        }
        items.leaveOut();
      }
      awaitsRefresh = !late && RefreshWait.take(request);
      long waited = System.nanoTime() - held.since;
      stats.granted(plan.type, waited);
      long token = held.locks.token();
      Guard guard = new Guard(planner.localNode(), held.ticket, token, plan.tokens, monitorOf(held, plan));
      // To give back many takes longer than to answer. But one that lingers must be there for the caller's next write.
      boolean endFirst = plan.monitors.size() == 1 || source.lingers();
      proceed(guardName(plan), guard.text(), problem -> {
        if (endFirst) {
          requests.end(held, problem);
        }
        if (report) {
          tell(reports -> reports.granted(waited / 1_000_000, token));
        }
      }, problem -> requests.end(held, problem));
    }

    private Stats.Count refusal(WritePlan plan) {
      return plan.held == null ? Stats.Count.TIMED_OUT : Stats.Count.NOT_HELD;
    }

    private String guardName(WritePlan plan) {
      return plan.update ? Headers.UPDATE_GUARD : Headers.GUARD;
    }

    private String monitorOf(HeldRequest held, WritePlan plan) {
      return plan.update ? held.locks.firstMonitor() : "";
    }

    private void notObtained(HeldRequest held, WritePlan plan, ForelockException problem) {
      boolean unavailable = Refusals.unavailable(problem.code());
      if (Refusals.away(problem.code()) && !required && settings.allowsUnguarded()) {
        if (requests.run(held)) {
          stats.count(plan.type, Stats.Count.ALLOWED);
          unguarded.count(plan.documents());
          proceed(guardName(plan), Guard.allowed(monitorOf(held, plan)).text(), failure -> {},
              failure -> requests.end(held));
        }
        return;
      }
      if (queued(plan) && problem.retryable()) {
        if (requests.runCounted(held)) {
          allLate(held, plan, problem);
        }
        return;
      }
      refuse(held, Refusals.notObtained(problem), unavailable ? Stats.Count.UNAVAILABLE : Stats.Count.FAILED);
    }

    /** No lock was obtained: what needs one is tried again, and the rest is written meanwhile. */
    private void allLate(HeldRequest held, WritePlan plan, ForelockException problem) {
      Map<String, ForelockException> all = new HashMap<>();
      plan.monitors.forEach(monitor -> all.put(monitor, problem));
      KeptItems items = new KeptItems((BulkShardRequest) request, plan.itemMonitors, answers(all, Map.of()));
      tryAgain(plan, all, held);
      if (items.all()) {
        requests.end(held);
        deliver(shardResponse(items.response()), null);
        return;
      }
      items.leaveOut();
      proceed(Headers.GUARD, Guard.allowed("").text(), failure -> {}, failure -> requests.end(held));
    }

    private void refuse(HeldRequest held, Refusal answer, Stats.Count count) {
      if (requests.refuse(held, answer)) {
        stats.count(held.type, count);
      }
    }
  }
}
