package org.forelock.opensearch;

import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
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
import org.opensearch.transport.TransportChannel;
import org.opensearch.transport.TransportInterceptor;
import org.opensearch.transport.TransportRequest;
import org.opensearch.transport.TransportRequestHandler;

/**
 * A PrimaryGate continues with the values that another node's plugin has passed on, lets a shard bulk reach the primary
 * on this node only while its locks are certain, and counts or refuses writes without locks. Its installation before a
 * node's handlers differs between the search engines.
 */
abstract class PrimaryGate implements TransportInterceptor {
  private final HeldRequests requests;
  private final Stats stats;
  private final ThreadContext context;
  private final Supplier<ClusterState> state;
  private final BooleanSupplier strict;
  private final Attempts attempts = new Attempts();
  private final GuardedSends sends;
  private volatile CertaintySource certainties;

  /**
   * Makes it.
   *
   * @param state what the node knows of the cluster
   * @param strict whether what comes without a lock is refused
   */
  PrimaryGate(HeldRequests requests, Stats stats, ThreadContext context, Supplier<ClusterState> state,
      BooleanSupplier strict) {
    this.requests = requests;
    this.stats = stats;
    this.context = context;
    this.state = state;
    this.strict = strict;
    this.sends = new GuardedSends(requests, context, guard -> certainties.isLocal(guard));
  }

  /** Why this node cannot do a guarded write into a shard as its index promises it; null: it can. */
  String unkept(Shard shard) {
    return null;
  }

  /** What comes now is done as the node's engine is to know it; certainty null: without a lock. @return may be null */
  StoredContext under(Certainty certainty, Guard guard) {
    return null;
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

  /** The handler of an action, behind this. */
  final <T extends TransportRequest> TransportRequestHandler<T> before(
      String action, Executor executor, TransportRequestHandler<T> handler) {
    if (!action.startsWith(WriteFilter.WRITES)) {
      return handler;
    }
    TransportRequestHandler<T> next = !action.equals(GuardedSends.SHARD_BULK_ON_PRIMARY) ? handler
        : (request, channel, task) -> check(executor, handler, request, channel, task);
    return (request, channel, task) -> {
      try (StoredContext ignored = Carrier.receiving(context, Sends.KEY)) {
        if (GuardedSends.isPart(action)) {
          context.putTransient(Sends.KEY, new Sends());
        }
        next.messageReceived(request, channel, task);
      }
    };
  }

  private <T extends TransportRequest> void check(Executor executor, TransportRequestHandler<T> handler, T request,
      TransportChannel channel, Task task) throws Exception {
    String text = Carrier.get(context, Headers.GUARD);
    if (text == null) {
      withoutLock(handler, request, channel, task);
      return;
    }
    Guard guard = Guard.parse(text);
    Shard shard = GuardedSends.shardOf(request);
    String unkept = guard.allowed() ? null : unkept(shard);
    if (unkept != null) {
      channel.sendResponse(new IllegalArgumentException(unkept + "; nothing was written"));
    } else if (guard.allowed()) {
      proceed(Constant.ALLOWED, guard, handler, request, channel, task);
    } else if (certainties.isLocal(guard)) {
      HeldRequest held = requests.get(guard.ticket);
      proceed(held == null ? Constant.GONE : held.locks, guard, handler, request, channel, task);
    } else {
      ask(executor, guard, shard, handler, request, channel, task);
    }
  }

  private <T extends TransportRequest> void withoutLock(
      TransportRequestHandler<T> handler, T request, TransportChannel channel, Task task) throws Exception {
    int unlocked = Unlocked.documents(state.get(), request);
    if (unlocked > 0 && strict.getAsBoolean()) {
      stats.refusedOnPrimary.increment();
      channel.sendResponse(Answers.of(Refusals.unlocked()));
      return;
    }
    stats.unguarded.add(unlocked);
    try (StoredContext ignored = under(null, null)) {
      handler.messageReceived(request, channel, task);
    }
  }

  /** Goes on when the node of the locks has answered. */
  private <T extends TransportRequest> void ask(Executor executor, Guard guard, Shard shard,
      TransportRequestHandler<T> handler, T request, TransportChannel channel, Task task) {
    RemoteCertainty remote = new RemoteCertainty(certainties, guard, shard);
    attempts.begin(remote);
    TransportChannel watched = new WatchedChannel(channel, () -> attempts.end(remote));
    SearchEngine.keep(request); // it is needed when this thread has gone
    Supplier<StoredContext> caller = context.newRestorableContext(false);
    remote.ask(() -> executor.execute(new AbstractRunnable() {
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
        SearchEngine.refuse(watched, problem);
      }

      @Override
      public void onAfter() {
        SearchEngine.letGo(request);
      }
    }));
  }

  private <T extends TransportRequest> void proceed(Certainty certainty, Guard guard,
      TransportRequestHandler<T> handler, T request, TransportChannel channel, Task task) throws Exception {
    if (!certainty.certain()) {
      stats.refusedOnPrimary.increment();
      channel.sendResponse(Answers.of(Refusals.uncertain(guard.monitor, guard.again)));
      return;
    }
    try (StoredContext ignored = under(certainty, guard)) {
      handler.messageReceived(request, channel, task);
    }
  }

  /** Where no locks are asked. */
  private enum Constant implements Certainty {
    ALLOWED,
    GONE;

    @Override
    public boolean certain() {
      return this == ALLOWED;
    }

    @Override
    public long token() {
      return 0;
    }
  }
}
