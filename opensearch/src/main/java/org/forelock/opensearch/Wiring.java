package org.forelock.opensearch;

import org.opensearch.action.bulk.TransportShardBulkAction;
import org.opensearch.cluster.service.ClusterService;
import org.opensearch.common.inject.Inject;
import org.opensearch.common.lifecycle.AbstractLifecycleComponent;
import org.opensearch.common.lifecycle.LifecycleListener;
import org.opensearch.http.HttpServerTransport;
import org.opensearch.indices.IndicesService;
import org.opensearch.tasks.CancellableTask;
import org.opensearch.tasks.TaskManager;
import org.opensearch.threadpool.ThreadPool;
import org.opensearch.transport.TransportService;

/** Connects the plugin with services of the node that exist only after its components. */
public final class Wiring extends AbstractLifecycleComponent {
  /**
   * Called by the node.
   *
   * @param transport between nodes
   * @param http towards clients
   * @param cluster what the node knows of the cluster
   * @param threads the node's threads
   * @param shards does a shard's part of a bulk
   * @param indices the node's shards
   * @param parts the plugin's own
   */
  @Inject
  public Wiring(TransportService transport, HttpServerTransport http, ClusterService cluster, ThreadPool threads,
      TransportShardBulkAction shards, IndicesService indices, Parts parts) {
    Peers peers = new Peers(transport, cluster, threads);
    parts.check.use(new CertaintyService(peers, parts.requests));
    Ancestry ancestry = new Ancestry(transport.getTaskManager(), cluster);
    parts.use((request, listener) -> shards.execute(request, listener));
    parts.use(peers, ancestry, new RefreshService(peers, cluster, indices, parts.writes));
    Refence.serve(peers, indices);
    transport.getTaskManager().addTaskEventListeners(new TaskManager.TaskEventListeners() {
      @Override
      public void onTaskCancelled(CancellableTask task) {
        parts.requests.cancel(
            held -> ancestry.descends(held.task, task.getId()), "task " + task.getId() + " was cancelled");
      }
    });
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
