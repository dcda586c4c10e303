package org.forelock.opensearch;

import java.io.IOException;
import java.util.Map;
import org.opensearch.action.ActionRequest;
import org.opensearch.action.ActionRequestValidationException;
import org.opensearch.core.common.io.stream.StreamInput;
import org.opensearch.core.common.io.stream.StreamOutput;

/** A question to one node, with parameters by name. */
final class LookRequest extends ActionRequest {
  final Map<String, String> parameters;

  LookRequest(Map<String, String> parameters) {
    this.parameters = Map.copyOf(parameters);
  }

  LookRequest(StreamInput in) throws IOException {
    super(in);
    parameters = in.readMap(StreamInput::readString, StreamInput::readString);
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    super.writeTo(out);
    out.writeMap(parameters, StreamOutput::writeString, StreamOutput::writeString);
  }

  @Override
  public ActionRequestValidationException validate() {
    return null;
  }
}
