package org.forelock.opensearch;

import java.io.IOException;
import java.util.Map;
import org.opensearch.action.ActionRequest;
import org.opensearch.action.ActionRequestValidationException;
import org.opensearch.core.common.io.stream.StreamInput;
import org.opensearch.core.common.io.stream.StreamOutput;

/** A question to a node, with values by name: of those that a later version adds an earlier one knows nothing. */
final class Message extends ActionRequest {
  final Map<String, Object> values;

  Message(Map<String, Object> values) {
    this.values = Map.copyOf(values);
  }

  @SuppressWarnings("unchecked")
  Message(StreamInput in) throws IOException {
    super(in);
    values = (Map<String, Object>) in.readGenericValue();
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    super.writeTo(out);
    out.writeGenericValue(values);
  }

  @Override
  public ActionRequestValidationException validate() {
    return null;
  }
}
