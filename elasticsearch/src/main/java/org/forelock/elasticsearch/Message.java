package org.forelock.elasticsearch;

import java.io.IOException;
import java.util.Map;
import org.elasticsearch.action.ActionRequest;
import org.elasticsearch.action.ActionRequestValidationException;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;

/** A question to a node, with values by name. */
final class Message extends ActionRequest {
  final Map<String, Object> values;

  Message(Map<String, Object> values) {
    this.values = Map.copyOf(values);
  }

  Message(StreamInput in) throws IOException {
    super(in);
    values = in.readGenericMap();
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    super.writeTo(out);
    out.writeGenericMap(values);
  }

  @Override
  public ActionRequestValidationException validate() {
    return null;
  }
}
