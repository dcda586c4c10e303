package org.forelock.opensearch;

import java.util.function.Supplier;
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
 * A PrimaryCheck lets a shard bulk reach the primary on this node only while its locks are certain, and leaves their
 * {@link Certainty} in the thread context for the engine, which asks again at each document.
 */
final class PrimaryCheck implements TransportInterceptor {
  private static final String SHARD_BULK_ON_PRIMARY = "indices:data/write/bulk[s][p]";
  private static final Certainty ALLOWED = new Constant(true);
  private static final Certainty GONE = new Constant(false);

  private final HeldRequests requests;
  private final Stats stats;
  private final ThreadPool threads;
  private final ThreadContext context;
  private volatile CertaintyService certainties;

  PrimaryCheck(HeldRequests requests, Stats stats, ThreadPool threads) {
    this.requests = requests;
    this.stats = stats;
    this.threads = threads;
    this.context = threads.getThreadContext();
  }

  /** To be called before the node takes requests. */
  void use(CertaintyService service) {
    certainties = service;
  }

  @Override
  public <T extends TransportRequest> TransportRequestHandler<T> interceptHandler(
      String action, String executor, boolean forceExecution, TransportRequestHandler<T> handler) {
    if (!action.equals(SHARD_BULK_ON_PRIMARY)) {
      return handler;
    }
    return (request, channel, task) -> check(executor, handler, request, channel, task);
  }

  private <T extends TransportRequest> void check(String executor, TransportRequestHandler<T> handler, T request,
      TransportChannel channel, Task task) throws Exception {
    String text = context.getHeader(Headers.GUARD);
    if (text == null) {
      handler.messageReceived(request, channel, task);
      return;
    }
    Guard guard = Guard.parse(text);
    if (guard.allowed()) {
      proceed(ALLOWED, guard, handler, request, channel, task);
    } else if (certainties.isLocal(guard)) {
      HeldRequest held = requests.get(guard.ticket);
      proceed(held == null ? GONE : held.locks, guard, handler, request, channel, task);
    } else {
      RemoteCertainty remote = new RemoteCertainty(certainties, guard);
      Supplier<StoredContext> caller = context.newRestorableContext(false);
      remote.ask(() -> threads.executor(executor).execute(new AbstractRunnable() {
        @Override
        protected void doRun() throws Exception {
          try (StoredContext ignored = caller.get()) {
            proceed(remote, guard, handler, request, channel, task);
          }
        }

        @Override
        public boolean isForceExecution() {
          return true;
        }

        @Override
        public void onFailure(Exception problem) {
          answer(channel, problem);
        }
      }));
    }
  }

  private <T extends TransportRequest> void proceed(Certainty certainty, Guard guard,
      TransportRequestHandler<T> handler, T request, TransportChannel channel, Task task) throws Exception {
    if (!certainty.certain()) {
      stats.refusedOnPrimary.increment();
      channel.sendResponse(Refusals.uncertain(guard.monitor));
      return;
    }
    try (StoredContext ignored = context.newStoredContext(true)) {
      context.putTransient(Certainty.KEY, certainty);
      handler.messageReceived(request, channel, task);
    }
  }

  private static void answer(TransportChannel channel, Exception problem) {
    try {
      channel.sendResponse(problem);
    } catch (java.io.IOException gone) {
      problem.addSuppressed(gone);
      throw new IllegalStateException(problem);
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
