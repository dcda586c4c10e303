package org.forelock.opensearch;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.forelock.ForelockException;
import org.forelock.search.Course;
import org.forelock.search.Guard;
import org.forelock.search.Headers;
import org.forelock.search.HeldRequest;
import org.forelock.search.NodeParts;
import org.forelock.search.PartReports;
import org.forelock.search.Refusal;
import org.forelock.search.Refusals;
import org.forelock.search.Words;
import org.forelock.search.WritePlan;
import org.opensearch.action.ActionRequest;
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
 * A WriteFilter holds each write into a guarded index until its locks are granted. Thread-safe; no thread ever waits.
 *
 * <p>Every write passes once for each shard, as a shard bulk; there its documents are known, whatever aliases and
 * pipelines have changed. An update reads first, so it is held where it arrives, and its bulk passes.
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
  private final NodeParts node;
  private final Workers workers;
  private final ThreadContext context;
  private final Words words;
  private final Extras extras;
  private final Refreshes refreshes;
  private final ForegroundPermit<?> permit;

  WriteFilter(ForelockSettings settings, WritePlanner planner, NodeParts node, Workers workers, ThreadContext context,
      Extras extras, Refreshes refreshes, ForegroundPermit<?> permit) {
    this.settings = settings;
    this.planner = planner;
    this.node = node;
    this.workers = workers;
    this.context = context;
    this.words = Carrier.words(context);
    this.extras = extras;
    this.refreshes = refreshes;
    this.permit = permit;
  }

  /** Behind all others: what they refuse needs no lock. */
  @Override
  public int order() {
    return Integer.MAX_VALUE;
  }

  @Override
  @SuppressWarnings("removal") // OpenSearch 2 has no other one
  public <Q extends ActionRequest, R extends ActionResponse> void apply(
      Task task, String action, Q request, ActionListener<R> listener, ActionFilterChain<Q, R> chain) {
    if (!action.startsWith(WRITES)) {
      chain.proceed(task, action, request, listener);
      return;
    }
    Decision decision;
    try {
      decision = decide(action, request);
    } catch (IllegalArgumentException | Refusal refused) {
      listener.onFailure(Answers.of(refused));
      return;
    }
    switch (decision.what()) {
      case PASS -> {
        // Of another write, within which this one began: its locks have nothing to do with it.
        try (StoredContext ignored = Carrier.without(context, List.of(Headers.GUARD))) {
          chain.proceed(task, action, request, listener);
        }
      }
      case MARK -> new Call<>(task, action, request, listener, chain).proceed(decision.name(), decision.value());
      case HOLD -> new Call<>(task, action, request, listener, chain).begin(decision.plan());
    }
  }

  /** Refuses it by an exception: a {@link Refusal}, or one for invalid headers of the client. */
  private Decision decide(String action, ActionRequest request) {
    boolean ofTheNode = planner.isOfTheNode(); // then no word of a client counts, not even an invalid one
    if (!ofTheNode) {
      Headers.wantsReport(words); // or it is invalid
    }
    boolean required = !ofTheNode && Headers.requiresLock(words);
    if (!required && !settings.enabled()) {
      return Decision.PASS;
    }
    boolean single = !ofTheNode && SINGLE_ACTIONS.contains(action) && Headers.wantsQueue(words);
    if (ofTheNode && Carrier.get(context, Headers.OF_NODE) == null) {
      return Decision.mark(Headers.OF_NODE, "true");
    }
    if (!ofTheNode) {
      checkQueue(action);
    }
    if (isBulkWork(action, request)) {
      return Decision.mark(
          Headers.BACKGROUND, BACKGROUND_ACTIONS.contains(action) ? Headers.BACKGROUND_JOB : "true");
    }
    WritePlan plan = settings.enabled() ? planner.plan(action, request) : planner.refuseUnguarded(request);
    if (plan != null && plan.coveredBy == null) {
      node.identity().check();
    }
    if (plan == null && single) {
      return Decision.mark(Headers.NO_QUEUE, "true");
    }
    if (action.equals(BULK) && BulkReports.of(context) == null) {
      return Decision.mark(null, null);
    }
    if (plan == null) {
      return Decision.PASS;
    }
    return plan.coveredBy == null ? Decision.hold(plan) : Decision.mark(Headers.GUARD, plan.coveredBy);
  }

  /**
   * A client that counts on the queue must not be told a time-out by a node that has none. Not so what an update, or a
   * job that the node does, sends as a bulk: the word has no effect for it.
   */
  private void checkQueue(String action) {
    boolean within = Carrier.get(context, Headers.UPDATE_GUARD) != null
        || Headers.BACKGROUND_JOB.equals(Carrier.get(context, Headers.BACKGROUND));
    if (action.equals(BULK) && !within && Headers.wantsQueue(words) && extras.noQueue() != null) {
      throw new IllegalArgumentException(Headers.QUEUE + ": " + extras.noQueue());
    }
  }

  /** Whether all that descends from it is background work, unless the client says otherwise. */
  private boolean isBulkWork(String action, ActionRequest request) {
    boolean bulkWork = BACKGROUND_ACTIONS.contains(action) || action.equals(BULK)
        && request instanceof BulkRequest && ((BulkRequest) request).numberOfActions() > settings.bulkForegroundMax();
    return bulkWork && Carrier.get(context, Headers.BACKGROUND) == null;
  }

  /** One request on its way through the filter, and the context that it came with. */
  private final class Call<Q extends ActionRequest, R extends ActionResponse> implements Course.Write {
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
    private WritePlan plan;
    /** Of items that are tried again; null: there are none. */
    private volatile Extras.Late late;

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
      // Background work continues when its client disconnects.
      return BACKGROUND_ACTIONS.contains(action) ? extras.ofClient() : List.of();
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

    @Override
    public void fail(Exception problem) {
      deliver(null, problem);
    }

    @Override
    public void tryAgainLater() {
      tell(reports -> reports.tryAgainAfter(settings.retryAfterSeconds()));
    }

    @Override
    public boolean requiresLock() {
      return required;
    }

    @Override
    public void report(long waitedMillis, long token) {
      if (report) {
        tell(reports -> reports.granted(waitedMillis, token));
      }
    }

    @Override
    public void awaitRefreshLater() {
      awaitsRefresh = RefreshWait.take(request);
    }

    @Override
    public Runnable whenClientGoes(Runnable gone) {
      return extras.whenClientGoes(context, task, gone);
    }

    @Override
    public Course.Items kept(Map<String, Refusal> refusals) {
      return new KeptItems((BulkShardRequest) request, plan.itemMonitors, refusals,
          response -> deliver(shardResponse(response), null));
    }

    @Override
    public boolean mayTryAgain() {
      return mayQueue;
    }

    @Override
    public void proceed(String name, Guard guard, Consumer<Exception> before, Consumer<Exception> after) {
      proceed(name, guard.text(), before, after);
    }

    /** @param problem null: the response */
    private void deliver(R response, Exception problem) {
      Extras.Late waiting = late;
      if (waiting == null) {
        answer(response, problem);
      } else {
        waiting.whenDone((BulkShardResponse) response, problem,
            (merged, broken) -> answer(merged == null ? null : shardResponse(merged), broken));
      }
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
      return extras.noQueue() == null && request instanceof BulkShardRequest && !planner.isOfTheNode()
          && Headers.wantsQueue(words) && Carrier.get(context, Headers.UPDATE_GUARD) == null
          && !Headers.BACKGROUND_JOB.equals(Carrier.get(context, Headers.BACKGROUND));
    }

    @Override
    public void tryAgain(Map<String, ForelockException> kept, HeldRequest held) {
      late = extras.tryAgain(task, action, (BulkShardRequest) request, plan,
          node.timeouts().millis(plan.type, plan.timeoutMillis), caller, kept, held);
    }

    void begin(WritePlan wanted) {
      if (wanted.held == null && permit.isNeeded(wanted.type)) {
        askAndHold(wanted);
      } else {
        holdWhenEnough(wanted);
      }
    }

    /** As its client says, if that is permitted; else in the background, where the client has not asked for more. */
    private void askAndHold(WritePlan wanted) {
      boolean asksForIt = Headers.saysPriority(words);
      Thread asking = Thread.currentThread();
      permit.ask((permitted, problem) -> {
        Exception refusal = problem != null ? problem : Refusals.foregroundNotPermitted();
        if (!permitted && (problem != null || asksForIt)) {
          deliver(null, refusal);
          return;
        }
        Runnable hold = () -> {
          try (StoredContext ignored = caller.get()) {
            holdWhenEnough(permitted ? wanted : wanted.inBackground());
          } catch (RuntimeException defect) { // whoever was asked listens no more
            fail(defect);
          }
        };
        if (Thread.currentThread() == asking) {
          hold.run();
        } else {
          workers.write(hold, this::fail);
        }
      });
    }

    /** When there are as many copies as the write waits for: it keeps no lock from others until then. */
    private void holdWhenEnough(WritePlan wanted) {
      if (planner.copies.enough(request)) {
        hold(wanted);
        return;
      }
      TimeValue timeout = wanted.timeoutMillis < 0 ? null : TimeValue.timeValueMillis(wanted.timeoutMillis);
      planner.copies.await(request, timeout, ActionListener.wrap(enough -> workers.write(() -> {
        try (StoredContext ignored = caller.get()) {
          hold(wanted);
        }
      }, this::fail), this::fail));
    }

    private void hold(WritePlan forIt) {
      plan = forIt;
      new Course(node, this, plan).begin(task, action);
    }
  }
}
