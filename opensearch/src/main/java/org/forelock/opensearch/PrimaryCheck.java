package org.forelock.opensearch;

import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.forelock.search.Attempts;
import org.forelock.search.Certainty;
import org.forelock.search.CertaintySource;
import org.forelock.search.Guard;
import org.forelock.search.Headers;
import org.forelock.search.HeldRequest;
import org.forelock.search.HeldRequests;
import org.forelock.search.Refusals;
import org.forelock.search.RemoteCertainty;
import org.forelock.search.Sends;
import org.forelock.search.Shard;
import org.forelock.search.Stats;
import org.opensearch.cluster.ClusterState;
import org.opensearch.common.util.concurrent.AbstractRunnable;
import org.opensearch.common.util.concurrent.ThreadContext;
import org.opensearch.common.util.concurrent.ThreadContext.StoredContext;
import org.opensearch.tasks.Task;
import org.opensearch.threadpool.ThreadPool;
import org.opensearch.transport.TransportChannel;
import org.opensearch.transport.TransportInterceptor;
import org.opensearch.transport.TransportRequest;
import org.opensearch.transport.TransportRequestHandler;

/**
 * A PrimaryCheck goes on with what the plugin of another node has handed on, lets a shard bulk reach the primary on
 * this node only while its locks are certain, and leaves their {@link Certainty} in the thread context for the engine,
 * which asks again at each document.
 */
final class PrimaryCheck implements TransportInterceptor {
  private static final Certainty ALLOWED = new Constant(true);
  private static final Certainty GONE = new Constant(false);

  private final HeldRequests requests;
  private final Stats stats;
  private final ThreadPool threads;
  private final ThreadContext context;
  private final Predicate<String> unkept;
  private final Supplier<ClusterState> state;
  private final BooleanSupplier strict;
  private final Attempts attempts = new Attempts();
  private final GuardedSends sends;
  private volatile CertaintySource certainties;

  /**
   * Makes it.
   *
   * @param unkept whether an index promises what this node cannot keep: fencing, without the engine
   * @param state what the node knows of the cluster
   * @param strict whether what comes without a lock is refused
   */
  PrimaryCheck(HeldRequests requests, Stats stats, ThreadPool threads, Predicate<String> unkept,
      Supplier<ClusterState> state, BooleanSupplier strict) {
    this.unkept = unkept;
    this.state = state;
    this.strict = strict;
    this.requests = requests;
    this.stats = stats;
    this.threads = threads;
    this.context = threads.getThreadContext();
    this.sends = new GuardedSends(requests, context, guard -> certainties.isLocal(guard));
  }

  /** To be called before the node takes requests. */
  void use(CertaintySource source) {
    certainties = source;
  }

  /** The attempts of other nodes at writes that are under way here. */
  int attempts() {
    return attempts.count();
  }

  @Override
  public AsyncSender interceptSender(AsyncSender sender) {
    return sends.around(sender);
  }

  @Override
  public <T extends TransportRequest> TransportRequestHandler<T> interceptHandler(
      String action, String executor, boolean forceExecution, TransportRequestHandler<T> handler) {
    if (!action.startsWith(WriteFilter.WRITES)) {
      return (request, channel, task) -> within(handler, request, channel, task);
    }
    TransportRequestHandler<T> next = !action.equals(GuardedSends.SHARD_BULK_ON_PRIMARY) ? handler
        : (request, channel, task) -> check(executor, handler, request, channel, task);
    return (request, channel, task) -> {
      try (StoredContext ignored = context.newStoredContext(true, List.of(Sends.KEY))) {
        Carrier.receive(context);
        if (GuardedSends.isPart(action)) {
          context.putTransient(Sends.KEY, new Sends());
        }
        next.messageReceived(request, channel, task);
      }
    };
  }

  /** An action of another plugin may go to another node before it writes under the lock that it holds. */
  private <T extends TransportRequest> void within(
      TransportRequestHandler<T> handler, T request, TransportChannel channel, Task task) throws Exception {
    if (!Carrier.isWithin(context)) {
      handler.messageReceived(request, channel, task);
      return;
    }
    try (StoredContext ignored = context.newStoredContext(true, List.of(Headers.HELD_WITHIN))) {
      Carrier.receive(context);
      handler.messageReceived(request, channel, task);
    }
  }

  private <T extends TransportRequest> void check(String executor, TransportRequestHandler<T> handler, T request,
      TransportChannel channel, Task task) throws Exception {
    String text = Carrier.get(context, Headers.GUARD);
    if (text == null && strict.getAsBoolean() && Unlocked.documents(state.get(), request) > 0) {
      stats.refusedOnPrimary.increment();
      channel.sendResponse(Answers.of(Refusals.unlocked()));
      return;
    }
    if (text == null) {
      try (StoredContext ignored = context.newStoredContext(true, List.of(Certainty.KEY))) {
        handler.messageReceived(request, channel, task);
      }
      return;
    }
    Guard guard = Guard.parse(text);
    Shard shard = GuardedSends.shardOf(request);
    if (!guard.allowed() && unkept.test(shard.index())) {
      channel.sendResponse(new IllegalArgumentException("[" + shard.index() + "] has index.forelock.fencing, "
          + "for which the node of its primary needs forelock.engine.enabled: true; nothing was written"));
      return;
    }
    if (guard.allowed()) {
      proceed(ALLOWED, guard, handler, request, channel, task);
    } else if (certainties.isLocal(guard)) {
      HeldRequest held = requests.get(guard.ticket);
      proceed(held == null ? GONE : held.locks, guard, handler, request, channel, task);
    } else {
      RemoteCertainty remote = new RemoteCertainty(certainties, guard, shard);
      attempts.begin(remote);
      TransportChannel watched = new WatchedChannel(channel, () -> attempts.end(remote));
      Supplier<StoredContext> caller = context.newRestorableContext(false);
      remote.ask(() -> threads.executor(executor).execute(new AbstractRunnable() {
        @Override
        protected void doRun() throws Exception {
          try (StoredContext ignored = caller.get()) {
            proceed(remote, guard, handler, request, watched, task);
          }
        }

        @Override
        public boolean isForceExecution() {
          return true;
        }

        @Override
        public void onFailure(Exception problem) {
          answer(watched, problem);
        }
      }));
    }
  }

  private <T extends TransportRequest> void proceed(Certainty certainty, Guard guard,
      TransportRequestHandler<T> handler, T request, TransportChannel channel, Task task) throws Exception {
    if (!certainty.certain()) {
      stats.refusedOnPrimary.increment();
      channel.sendResponse(Answers.of(Refusals.uncertain(guard.monitor, guard.again)));
      return;
    }
    // There is another one where this write was caused by a guarded one, on its primary.
    try (StoredContext ignored = context.newStoredContext(true, List.of(Certainty.KEY))) {
      context.putTransient(Certainty.KEY, guard.allowed() ? certainty : new Guarded(certainty, guard));
      handler.messageReceived(request, channel, task);
    }
  }

  /** @return null: it is none of those that concern one */
  private static void answer(TransportChannel channel, Exception problem) {
    try {
      channel.sendResponse(problem);
    } catch (java.io.IOException gone) {
      problem.addSuppressed(gone);
      throw new IllegalStateException(problem);
    }
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

  private static final class Constant implements Certainty {
    private final boolean certain;

    Constant(boolean certain) {
      this.certain = certain;
    }

    @Override
    public boolean certain() {
      return certain;
    }

    @Override
    public long token() {
      return 0;
    }
  }
}
