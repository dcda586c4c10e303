package org.forelock.opensearch;

import java.io.IOException;
import java.util.Map;
import org.opensearch.core.common.io.stream.StreamInput;
import org.opensearch.core.common.io.stream.StreamOutput;

/**
 * The Additions of later versions to a message between nodes: values by name, at its end. This version has none, and
 * skips those that it gets; a node accepts no message with unread bytes.
 */
final class Additions {
  private Additions() {}

  static void write(StreamOutput out) throws IOException {
    out.writeMap(Map.of());
  }

  static void passOver(StreamInput in) throws IOException {
    in.readMap();
  }
}
