package org.forelock.opensearch;

import java.io.IOException;
import java.util.Map;
import org.opensearch.core.action.ActionResponse;
import org.opensearch.core.common.io.stream.StreamInput;
import org.opensearch.core.common.io.stream.StreamOutput;

/** What a node answers, with values by name: of those that a later version adds an earlier one knows nothing. */
final class Reply extends ActionResponse {
  final Map<String, Object> values;

  Reply(Map<String, Object> values) {
    this.values = values;
  }

  @SuppressWarnings("unchecked")
  Reply(StreamInput in) throws IOException {
    values = (Map<String, Object>) in.readGenericValue();
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    out.writeGenericValue(values);
  }
}
