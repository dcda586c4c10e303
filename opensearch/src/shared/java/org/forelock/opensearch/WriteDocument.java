package org.forelock.opensearch;

import java.util.Map;
import org.forelock.search.Document;
import org.opensearch.OpenSearchParseException;
import org.opensearch.action.DocWriteRequest;
import org.opensearch.action.index.IndexRequest;
import org.opensearch.action.update.UpdateRequest;
import org.opensearch.common.xcontent.support.XContentMapValues;

/** The document of one write. */
final class WriteDocument implements Document {
  private final DocWriteRequest<?> write;

  WriteDocument(DocWriteRequest<?> write) {
    this.write = write;
  }

  @Override
  public String id() {
    return write.id();
  }

  @Override
  public String operation() {
    return write.opType().getLowercase();
  }

  @Override
  public Object field(String path) {
    IndexRequest source = null;
    if (write instanceof IndexRequest) {
      source = (IndexRequest) write;
    } else if (write instanceof UpdateRequest) {
      UpdateRequest update = (UpdateRequest) write;
      source = update.doc() != null ? update.doc() : update.upsertRequest();
    }
    if (source == null || source.source() == null) {
      return null;
    }
    Map<String, Object> fields;
    try {
      fields = source.sourceAsMap();
    } catch (OpenSearchParseException problem) {
      throw new IllegalArgumentException("the document cannot be read: " + problem.getMessage(), problem);
    }
    return XContentMapValues.extractValue(path, fields);
  }
}
