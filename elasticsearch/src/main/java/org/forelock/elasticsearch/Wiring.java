package org.forelock.elasticsearch;

import java.util.Map;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.ActionType;
import org.elasticsearch.action.support.ActionFilters;
import org.elasticsearch.action.support.HandledTransportAction;
import org.elasticsearch.cluster.service.ClusterService;
import org.elasticsearch.common.component.LifecycleListener;
import org.elasticsearch.http.HttpServerTransport;
import org.elasticsearch.indices.IndicesService;
import org.elasticsearch.injection.guice.Inject;
import org.elasticsearch.tasks.Task;
import org.elasticsearch.threadpool.ThreadPool;
import org.elasticsearch.transport.TransportService;

/**
 * Connects the plugin with services of the node that exist only after its components. It is an action that does
 * nothing, since Elasticsearch creates actions before it takes requests, and passes those services to no other object
 * of a plugin.
 */
public final class Wiring extends HandledTransportAction<Message, Reply> {
  static final ActionType<Reply> TYPE = new ActionType<>("internal:plugin/forelock/wiring");

  /**
   * Called by the node.
   *
   * @param transport between nodes
   * @param http towards clients
   * @param cluster what the node knows of the cluster
   * @param threads the node's threads
   * @param indices the node's shards
   * @param filters of actions
   * @param parts the plugin's own
   */
  @Inject
  public Wiring(TransportService transport, HttpServerTransport http, ClusterService cluster, ThreadPool threads,
      IndicesService indices, ActionFilters filters, Parts parts) {
    super(TYPE.name(), transport, filters, Message::new, Wire.AT_ONCE);
    Peers peers = new Peers(transport, cluster, threads);
    parts.check.use(new CertaintyService(peers, parts.requests));
    parts.use(peers, transport.getTaskManager(),
        new RefreshService(peers, cluster, indices, parts.writes));
    // Later the connections to the clients are closed already.
    http.addLifecycleListener(new LifecycleListener() {
      @Override
      public void beforeStop() {
        parts.leases.close();
      }
    });
  }

  @Override
  protected void doExecute(Task task, Message message, ActionListener<Reply> listener) {
    listener.onResponse(new Reply(Map.of()));
  }
}
