package org.forelock.elasticsearch;

import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.elasticsearch.cluster.service.ClusterService;
import org.elasticsearch.common.util.concurrent.AbstractRunnable;
import org.elasticsearch.common.util.concurrent.ThreadContext;
import org.elasticsearch.common.util.concurrent.ThreadContext.StoredContext;
import org.elasticsearch.tasks.Task;
import org.elasticsearch.threadpool.ThreadPool;
import org.elasticsearch.transport.TransportChannel;
import org.elasticsearch.transport.TransportInterceptor;
import org.elasticsearch.transport.TransportRequest;
import org.elasticsearch.transport.TransportRequestHandler;
import org.forelock.search.Attempts;
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

/**
 * A PrimaryGate goes on with what the plugin of another node has handed on, lets a shard bulk reach the primary on
 * this node only while its locks are certain, and counts or refuses what comes without. How a node puts it before its
 * handlers differs between the versions of Elasticsearch.
 */
abstract class PrimaryGate implements TransportInterceptor {
  private final HeldRequests requests;
  private final Stats stats;
  private final ThreadContext context;
  private final ClusterService cluster;
  private final BooleanSupplier strict;
  private final Attempts attempts = new Attempts();
  private final GuardedSends sends;
  private volatile CertaintySource certainties;

  /** @param strict whether what comes without a lock is refused */
  PrimaryGate(HeldRequests requests, Stats stats, ThreadPool threads, ClusterService cluster, BooleanSupplier strict) {
    this.strict = strict;
    this.cluster = cluster;
    this.requests = requests;
    this.stats = stats;
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

  /** The handler of an action, behind this. */
  final <T extends TransportRequest> TransportRequestHandler<T> before(
      String action, Executor executor, TransportRequestHandler<T> handler) {
    if (!action.startsWith(WriteFilter.WRITES)) {
      return handler;
    }
    TransportRequestHandler<T> next = !action.equals(GuardedSends.SHARD_BULK_ON_PRIMARY) ? handler
        : (request, channel, task) -> check(executor, handler, request, channel, task);
    return (request, channel, task) -> {
      try (StoredContext ignored = Carrier.forgetting(context, Sends.KEY)) {
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
      int unlocked = Unlocked.documents(cluster.state(), request);
      if (unlocked > 0 && strict.getAsBoolean()) {
        stats.refusedOnPrimary.increment();
        channel.sendResponse(Answers.of(Refusals.unlocked()));
        return;
      }
      stats.unguarded.add(unlocked);
      handler.messageReceived(request, channel, task);
      return;
    }
    Guard guard = Guard.parse(text);
    Shard shard = GuardedSends.shardOf(request);
    if (guard.allowed()) {
      handler.messageReceived(request, channel, task);
    } else if (certainties.isLocal(guard)) {
      HeldRequest held = requests.get(guard.ticket);
      proceed(held != null && held.locks.certain(), guard, handler, request, channel, task);
    } else {
      RemoteCertainty remote = new RemoteCertainty(certainties, guard, shard);
      attempts.begin(remote);
      TransportChannel watched = new WatchedChannel(channel, () -> attempts.end(remote));
      request.incRef(); // it is needed when this thread has gone
      Supplier<StoredContext> caller = context.newRestorableContext(false);
      remote.ask(() -> executor.execute(new AbstractRunnable() {
        @Override
        protected void doRun() throws Exception {
          try (StoredContext ignored = caller.get()) {
            proceed(remote.certain(), guard, handler, request, watched, task);
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
          request.decRef();
        }
      }));
    }
  }

  private <T extends TransportRequest> void proceed(boolean certain, Guard guard,
      TransportRequestHandler<T> handler, T request, TransportChannel channel, Task task) throws Exception {
    if (!certain) {
      stats.refusedOnPrimary.increment();
      channel.sendResponse(Answers.of(Refusals.uncertain(guard.monitor, guard.again)));
      return;
    }
    handler.messageReceived(request, channel, task);
  }
}
