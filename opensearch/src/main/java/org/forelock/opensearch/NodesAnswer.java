package org.forelock.opensearch;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.opensearch.action.FailedNodeException;
import org.opensearch.action.support.nodes.BaseNodeResponse;
import org.opensearch.action.support.nodes.BaseNodesResponse;
import org.opensearch.cluster.ClusterName;
import org.opensearch.cluster.node.DiscoveryNode;
import org.opensearch.core.common.io.stream.StreamInput;
import org.opensearch.core.common.io.stream.StreamOutput;

/** The answers of all nodes, each with values by name. */
final class NodesAnswer extends BaseNodesResponse<NodesAnswer.OfNode> {
  NodesAnswer(ClusterName cluster, List<OfNode> nodes, List<FailedNodeException> failures) {
    super(cluster, nodes, failures);
  }

  @Override
  protected List<OfNode> readNodesFrom(StreamInput in) throws IOException {
    return in.readList(OfNode::new);
  }

  @Override
  protected void writeNodesTo(StreamOutput out, List<OfNode> nodes) throws IOException {
    out.writeList(nodes);
  }

  /** By the nodes' ids, each with its name. */
  Map<String, Object> toMap() {
    Map<String, Object> nodes = new LinkedHashMap<>();
    for (OfNode node : getNodes()) {
      Map<String, Object> one = new LinkedHashMap<>();
      one.put("name", node.getNode().getName());
      one.putAll(node.values);
      nodes.put(node.getNode().getId(), one);
    }
    return nodes;
  }

  List<String> problems() {
    return failures().stream().map(failure -> failure.nodeId() + ": " + failure.getMessage()).toList();
  }

  /** The answer of one node. */
  static final class OfNode extends BaseNodeResponse {
    final Map<String, Object> values;

    OfNode(DiscoveryNode node, Map<String, Object> values) {
      super(node);
      this.values = values;
    }

    OfNode(StreamInput in) throws IOException {
      super(in);
      values = in.readMap();
    }

    @Override
    public void writeTo(StreamOutput out) throws IOException {
      super.writeTo(out);
      out.writeMap(values);
    }
  }
}
