package org.forelock.elasticsearch;

import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import org.elasticsearch.cluster.service.ClusterService;
import org.elasticsearch.threadpool.ThreadPool;
import org.elasticsearch.transport.TransportRequest;
import org.elasticsearch.transport.TransportRequestHandler;
import org.forelock.search.HeldRequests;
import org.forelock.search.Stats;

/** A PrimaryCheck puts the {@link PrimaryGate} before the node's handlers. */
final class PrimaryCheck extends PrimaryGate {
  PrimaryCheck(HeldRequests requests, Stats stats, ThreadPool threads, ClusterService cluster, BooleanSupplier strict) {
    super(requests, stats, threads.getThreadContext(), cluster::state, strict);
  }

  @Override
  public <T extends TransportRequest> TransportRequestHandler<T> interceptHandler(
      String action, Executor executor, boolean forceExecution, TransportRequestHandler<T> handler) {
    return before(action, executor, handler);
  }
}
