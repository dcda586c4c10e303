package org.forelock.opensearch;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.forelock.search.Names;
import org.forelock.search.Selection;
import org.opensearch.action.ActionType;
import org.opensearch.action.FailedNodeException;
import org.opensearch.action.support.ActionFilters;
import org.opensearch.action.support.nodes.TransportNodesAction;
import org.opensearch.cluster.service.ClusterService;
import org.opensearch.common.inject.Inject;
import org.opensearch.core.common.io.stream.StreamInput;
import org.opensearch.threadpool.ThreadPool;
import org.opensearch.transport.TransportService;

/** Questions that every node of the cluster answers for itself. */
abstract class NodesAction
    extends TransportNodesAction<NodesRequest, NodesAnswer, NodesRequest.OfNode, NodesAnswer.OfNode> {
  static final ActionType<NodesAnswer> STATS = type("cluster:monitor/forelock/stats");
  static final ActionType<NodesAnswer> CANCEL = type("cluster:admin/forelock/cancel");
  static final ActionType<NodesAnswer> PRIORITIZE = type("cluster:admin/forelock/prioritize");

  NodesAction(ActionType<?> type, ThreadPool threads, ClusterService cluster, TransportService transport,
      ActionFilters filters) {
    super(type.name(), threads, cluster, transport, filters, NodesRequest::new, NodesRequest.OfNode::new,
        ThreadPool.Names.MANAGEMENT, NodesAnswer.OfNode.class);
  }

  static ActionType<NodesAnswer> type(String name) {
    return new ActionType<>(name, in -> {
      throw new UnsupportedOperationException(name + " is only executed on the node that was asked");
    });
  }

  /** May take some time, but no network. */
  abstract Map<String, Object> answer(Map<String, String> parameters);

  @Override
  protected NodesAnswer newResponse(
      NodesRequest request, List<NodesAnswer.OfNode> nodes, List<FailedNodeException> failures) {
    return new NodesAnswer(clusterService.getClusterName(), nodes, failures);
  }

  @Override
  protected NodesRequest.OfNode newNodeRequest(NodesRequest request) {
    return new NodesRequest.OfNode(request);
  }

  @Override
  protected NodesAnswer.OfNode newNodeResponse(StreamInput in) throws IOException {
    return new NodesAnswer.OfNode(in);
  }

  @Override
  protected NodesAnswer.OfNode nodeOperation(NodesRequest.OfNode request) {
    return new NodesAnswer.OfNode(clusterService.localNode(), answer(request.parameters));
  }

  /** The counts and the current state of each node. */
  public static final class StatsAction extends NodesAction {
    private final Parts parts;

    /**
     * Called by the node.
     *
     * @param threads the node's threads
     * @param cluster what the node knows of the cluster
     * @param transport between nodes
     * @param filters of actions
     * @param parts the plugin's own
     */
    @Inject
    public StatsAction(ThreadPool threads, ClusterService cluster, TransportService transport, ActionFilters filters,
        Parts parts) {
      super(STATS, threads, cluster, transport, filters);
      this.parts = parts;
    }

    @Override
    Map<String, Object> answer(Map<String, String> parameters) {
      return parts.state.toMap();
    }
  }

  /** Ends waits. */
  public static final class CancelAction extends NodesAction {
    private final Parts parts;

    /**
     * Called by the node.
     *
     * @param threads the node's threads
     * @param cluster what the node knows of the cluster
     * @param transport between nodes
     * @param filters of actions
     * @param parts the plugin's own
     */
    @Inject
    public CancelAction(ThreadPool threads, ClusterService cluster, TransportService transport, ActionFilters filters,
        Parts parts) {
      super(CANCEL, threads, cluster, transport, filters);
      this.parts = parts;
    }

    @Override
    Map<String, Object> answer(Map<String, String> parameters) {
      Selection selection = Selection.of(parameters);
      int cancelled = parts.requests.cancel(held -> selection.fits(held, parts.ancestry()), "by request");
      return Map.of("cancelled", cancelled);
    }
  }

  /** Moves those that wait to another class. */
  public static final class PrioritizeAction extends NodesAction {
    private final Parts parts;

    /**
     * Called by the node.
     *
     * @param threads the node's threads
     * @param cluster what the node knows of the cluster
     * @param transport between nodes
     * @param filters of actions
     * @param parts the plugin's own
     */
    @Inject
    public PrioritizeAction(ThreadPool threads, ClusterService cluster, TransportService transport,
        ActionFilters filters, Parts parts) {
      super(PRIORITIZE, threads, cluster, transport, filters);
      this.parts = parts;
    }

    @Override
    Map<String, Object> answer(Map<String, String> parameters) {
      Selection selection = Selection.of(parameters);
      int changed = parts.requests.prioritize(
          held -> selection.fits(held, parts.ancestry()), Selection.wanted(parameters));
      return Map.of("prioritized", changed);
    }
  }
}
