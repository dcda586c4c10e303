package org.forelock.opensearch;

import java.io.IOException;
import java.util.Map;
import org.opensearch.action.support.nodes.BaseNodesRequest;
import org.opensearch.core.common.io.stream.StreamInput;
import org.opensearch.core.common.io.stream.StreamOutput;

/** A question to all nodes, or to some, with parameters by name. */
final class NodesRequest extends BaseNodesRequest<NodesRequest> {
  private final Map<String, String> parameters;

  /** @param nodes their ids; none: all */
  NodesRequest(Map<String, String> parameters, String... nodes) {
    super(nodes);
    this.parameters = Map.copyOf(parameters);
  }

  NodesRequest(StreamInput in) throws IOException {
    super(in);
    parameters = in.readMap(StreamInput::readString, StreamInput::readString);
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    super.writeTo(out);
    out.writeMap(parameters, StreamOutput::writeString, StreamOutput::writeString);
  }

  /** The same, as one node gets it. */
  static final class OfNode extends NodeRequestBase {
    final Map<String, String> parameters;

    OfNode(NodesRequest request) {
      parameters = request.parameters;
    }

    OfNode(StreamInput in) throws IOException {
      super(in);
      parameters = in.readMap(StreamInput::readString, StreamInput::readString);
    }

    @Override
    public void writeTo(StreamOutput out) throws IOException {
      super.writeTo(out);
      out.writeMap(parameters, StreamOutput::writeString, StreamOutput::writeString);
    }
  }
}
