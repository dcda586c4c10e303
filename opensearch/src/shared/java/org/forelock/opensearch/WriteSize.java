package org.forelock.opensearch;

import org.forelock.search.ObjectSize;
import org.opensearch.action.DocWriteRequest;
import org.opensearch.action.bulk.BulkItemRequest;
import org.opensearch.action.bulk.BulkShardRequest;
import org.opensearch.action.update.UpdateRequest;
import org.opensearch.script.Script;

/** The heap that held writes take. OpenSearch's own number omits the scripts of updates. */
final class WriteSize {
  private WriteSize() {}

  static long of(DocWriteRequest<?> write) {
    return write.ramBytesUsed() + script(write);
  }

  static long of(BulkShardRequest request) {
    long bytes = request.ramBytesUsed();
    for (BulkItemRequest item : request.items()) {
      bytes += script(item.request());
    }
    return bytes;
  }

  private static long script(DocWriteRequest<?> write) {
    Script script = write instanceof UpdateRequest ? ((UpdateRequest) write).script() : null;
    return script == null ? 0 : ObjectSize.of(script.getIdOrCode())
        + ObjectSize.of(script.getParams()) + ObjectSize.of(script.getOptions());
  }
}
