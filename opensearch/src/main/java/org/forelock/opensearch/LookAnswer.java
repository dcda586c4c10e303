package org.forelock.opensearch;

import java.io.IOException;
import java.util.Map;
import org.opensearch.core.action.ActionResponse;
import org.opensearch.core.common.io.stream.StreamInput;
import org.opensearch.core.common.io.stream.StreamOutput;

/** The answer of one node, by name. */
final class LookAnswer extends ActionResponse {
  final Map<String, Object> values;

  LookAnswer(Map<String, Object> values) {
    this.values = values;
  }

  LookAnswer(StreamInput in) throws IOException {
    super(in);
    values = in.readMap();
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    out.writeMap(values);
  }
}
