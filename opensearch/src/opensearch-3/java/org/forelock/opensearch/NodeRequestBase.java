package org.forelock.opensearch;

import java.io.IOException;
import org.opensearch.core.common.io.stream.StreamInput;
import org.opensearch.transport.TransportRequest;

/** A request to one of many nodes; its base differs between OpenSearch 2 and 3. */
abstract class NodeRequestBase extends TransportRequest {
  NodeRequestBase() {}

  NodeRequestBase(StreamInput in) throws IOException {
    super(in);
  }
}
