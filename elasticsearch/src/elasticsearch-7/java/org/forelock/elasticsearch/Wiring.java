package org.forelock.elasticsearch;

import org.elasticsearch.cluster.service.ClusterService;
import org.elasticsearch.common.component.AbstractLifecycleComponent;
import org.elasticsearch.common.component.LifecycleListener;
import org.elasticsearch.common.inject.Inject;
import org.elasticsearch.http.HttpServerTransport;
import org.elasticsearch.indices.IndicesService;
import org.elasticsearch.threadpool.ThreadPool;
import org.elasticsearch.transport.TransportService;

/** Connects the plugin with services of the node that exist only after its components. */
public final class Wiring extends AbstractLifecycleComponent {
  /**
   * Called by the node.
   *
   * @param transport between nodes
   * @param http towards clients
   * @param cluster what the node knows of the cluster
   * @param threads the node's threads
   * @param indices the node's shards
   * @param parts the plugin's own
   */
  @Inject
  public Wiring(TransportService transport, HttpServerTransport http, ClusterService cluster, ThreadPool threads,
      IndicesService indices, Parts parts) {
    Peers peers = new Peers(transport, cluster, threads);
    parts.check.use(new CertaintyService(peers, parts.requests));
    parts.use(peers, transport.getTaskManager(), new RefreshService(peers, cluster, indices, parts.writes));
    // Later the connections to the clients are closed already.
    http.addLifecycleListener(new LifecycleListener() {
      @Override
      public void beforeStop() {
        parts.leases.close();
      }
    });
  }

  @Override
  protected void doStart() {}

  @Override
  protected void doStop() {}

  @Override
  protected void doClose() {}
}
