package org.forelock.elasticsearch;

import java.io.IOException;
import java.util.Map;
import org.elasticsearch.action.ActionResponse;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;

/** The answer of a node, with values by name. */
final class Reply extends ActionResponse {
  final Map<String, Object> values;

  Reply(Map<String, Object> values) {
    this.values = values;
  }

  Reply(StreamInput in) throws IOException {
    values = in.readGenericMap();
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    out.writeGenericMap(values);
  }
}
