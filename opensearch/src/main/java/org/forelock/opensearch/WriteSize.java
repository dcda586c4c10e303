package org.forelock.opensearch;

import java.util.Map;
import org.opensearch.action.DocWriteRequest;
import org.opensearch.action.bulk.BulkItemRequest;
import org.opensearch.action.bulk.BulkShardRequest;
import org.opensearch.action.update.UpdateRequest;
import org.opensearch.script.Script;

/** What writes take of the heap while they are held. OpenSearch's own number leaves out the scripts of updates. */
final class WriteSize {
  /** Of an object with its reference; an upper bound for a number. */
  private static final long OBJECT_BYTES = 32;
  /** Of an entry of a map. */
  private static final long ENTRY_BYTES = 48;
  /** Of a character: one where it is parsed, and one where it lies as it came. */
  private static final long CHARACTER_BYTES = 2;

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
    return script == null ? 0 : value(script.getIdOrCode()) + value(script.getParams()) + value(script.getOptions());
  }

  /** As deep as the parser of requests lets it be. */
  private static long value(Object value) {
    long bytes = OBJECT_BYTES;
    if (value instanceof CharSequence) {
      bytes += CHARACTER_BYTES * ((CharSequence) value).length();
    } else if (value instanceof byte[]) {
      bytes += ((byte[]) value).length;
    } else if (value instanceof Map) {
      for (Map.Entry<?, ?> entry : ((Map<?, ?>) value).entrySet()) {
        bytes += ENTRY_BYTES + value(entry.getKey()) + value(entry.getValue());
      }
    } else if (value instanceof Iterable) {
      for (Object one : (Iterable<?>) value) {
        bytes += value(one);
      }
    }
    return bytes;
  }
}
