package org.forelock.elasticsearch;

import org.elasticsearch.action.DocWriteRequest;
import org.elasticsearch.action.bulk.BulkItemRequest;
import org.elasticsearch.action.bulk.BulkShardRequest;
import org.elasticsearch.action.update.UpdateRequest;
import org.elasticsearch.script.Script;
import org.forelock.search.ObjectSize;

/** What writes take of the heap while they are held. Elasticsearch's own number leaves out the scripts of updates. */
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
