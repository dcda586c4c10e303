package org.forelock.opensearch;

import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.forelock.search.Certainty;
import org.forelock.search.Guard;
import org.forelock.search.Headers;
import org.forelock.search.HeldRequests;
import org.forelock.search.Shard;
import org.forelock.search.Stats;
import org.opensearch.cluster.ClusterState;
import org.opensearch.common.util.concurrent.ThreadContext;
import org.opensearch.common.util.concurrent.ThreadContext.StoredContext;
import org.opensearch.tasks.Task;
import org.opensearch.threadpool.ThreadPool;
import org.opensearch.transport.TransportChannel;
import org.opensearch.transport.TransportRequest;
import org.opensearch.transport.TransportRequestHandler;

/**
 * A PrimaryCheck puts the {@link PrimaryGate} before the node's handlers, and leaves the {@link Certainty} of the
 * locks in the thread context for the engine, which checks it again at each document.
 */
final class PrimaryCheck extends PrimaryGate {
  private final ThreadPool threads;
  private final ThreadContext context;
  private final Predicate<Shard> unkept;

  /** @param unkept whether the index of a shard promises what its engine here does not keep: fencing */
  PrimaryCheck(HeldRequests requests, Stats stats, ThreadPool threads, Predicate<Shard> unkept,
      Supplier<ClusterState> state, BooleanSupplier strict) {
    super(requests, stats, threads.getThreadContext(), state, strict);
    this.threads = threads;
    this.context = threads.getThreadContext();
    this.unkept = unkept;
  }

  @Override
  public <T extends TransportRequest> TransportRequestHandler<T> interceptHandler(
      String action, String executor, boolean forceExecution, TransportRequestHandler<T> handler) {
    return action.startsWith(WriteFilter.WRITES)
        ? before(action, work -> threads.executor(executor).execute(work), handler)
        : (request, channel, task) -> within(handler, request, channel, task);
  }

  /** An action of another plugin may go to another node before it writes under the lock that it holds. */
  private <T extends TransportRequest> void within(
      TransportRequestHandler<T> handler, T request, TransportChannel channel, Task task) throws Exception {
    if (!Carrier.isWithin(context)) {
      handler.messageReceived(request, channel, task);
      return;
    }
    try (StoredContext ignored = Carrier.receiving(context, Headers.HELD_WITHIN)) {
      handler.messageReceived(request, channel, task);
    }
  }

  @Override
  String unkept(Shard shard) {
    return !unkept.test(shard) ? null : "[" + shard.index() + "] has index.forelock.fencing, for which the node of its "
        + "primary needs forelock.engine.enabled: true; an index that was open when it got the setting is to be closed "
        + "and opened again";
  }

  /** There is another one in the context where this write was caused by a guarded one, on its primary. */
  @Override
  StoredContext under(Certainty certainty, Guard guard) {
    StoredContext former = context.newStoredContext(true, List.of(Certainty.KEY));
    if (certainty != null) {
      context.putTransient(Certainty.KEY, guard.allowed() ? certainty : new Guarded(certainty, guard));
    }
    return former;
  }

  /** With what came with the write. */
  private static final class Guarded implements Certainty {
    private final Certainty certainty;
    private final Guard guard;

    Guarded(Certainty certainty, Guard guard) {
      this.certainty = certainty;
      this.guard = guard;
    }

    @Override
    public boolean certain() {
      return certainty.certain();
    }

    @Override
    public long token() {
      return certainty.token();
    }

    @Override
    public long token(String id) {
      return certainty.token(id);
    }

    @Override
    public String namespace() {
      return guard.namespace;
    }

    @Override
    public boolean again() {
      return guard.again;
    }
  }
}
