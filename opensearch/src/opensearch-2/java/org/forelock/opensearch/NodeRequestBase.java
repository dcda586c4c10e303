package org.forelock.opensearch;

import java.io.IOException;
import org.opensearch.action.support.nodes.BaseNodeRequest;
import org.opensearch.core.common.io.stream.StreamInput;

/** A request to one of many nodes; its base differs between OpenSearch 2 and 3. */
@SuppressWarnings("deprecation")
abstract class NodeRequestBase extends BaseNodeRequest {
  NodeRequestBase() {}

  NodeRequestBase(StreamInput in) throws IOException {
    super(in);
  }
}
