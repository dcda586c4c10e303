package org.forelock.opensearch;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import org.opensearch.action.DocWriteRequest;
import org.opensearch.action.index.IndexRequest;
import org.opensearch.action.update.UpdateRequest;
import org.opensearch.common.xcontent.XContentFactory;
import org.opensearch.common.xcontent.XContentHelper;
import org.opensearch.common.xcontent.XContentType;
import org.opensearch.core.common.bytes.BytesReference;
import org.opensearch.core.xcontent.ToXContent;
import org.opensearch.core.xcontent.XContentBuilder;
import org.opensearch.index.VersionType;
import org.opensearch.index.seqno.SequenceNumbers;
import org.opensearch.ingest.IngestService;

/**
 * A WriteLetter is the payload of a dead letter: all data for repeating a document's write, as JSON in the form of
 * docs/opensearch-write.schema.json.
 */
final class WriteLetter {
  /** The type of such letters. */
  static final String TYPE = "opensearch_write";
  /** The library takes no larger payload. */
  static final int MAX_BYTES = 1 << 20;

  private static final int SCHEMA = 1;

  private WriteLetter() {}

  /**
   * The payload of a write whose pipelines have been executed.
   *
   * @param index into which it is to go
   * @throws IllegalArgumentException if it is too large, or cannot be written as JSON
   */
  static byte[] payload(String index, DocWriteRequest<?> write) {
    try {
      XContentBuilder json = XContentFactory.jsonBuilder().startObject();
      json.field("schema", SCHEMA).field("op", write.opType().getLowercase());
      json.field("index", index).field("id", write.id());
      if (write.routing() != null) {
        json.field("routing", write.routing());
      }
      if (write.ifSeqNo() != SequenceNumbers.UNASSIGNED_SEQ_NO) {
        json.field("if_seq_no", write.ifSeqNo()).field("if_primary_term", write.ifPrimaryTerm());
      }
      if (write.versionType() != VersionType.INTERNAL) {
        json.field("version", write.version());
        json.field("version_type", write.versionType().name().toLowerCase(Locale.ROOT));
      }
      if (write instanceof IndexRequest) {
        IndexRequest document = (IndexRequest) write;
        json.field("pipeline", IngestService.NOOP_PIPELINE_NAME);
        // As a text: what reads it may not know numbers as large or exact as it has.
        json.field("source", json(document));
      } else if (write instanceof UpdateRequest) {
        UpdateRequest update = (UpdateRequest) write;
        json.field("retry_on_conflict", update.retryOnConflict());
        json.field("source", body(update));
      }
      byte[] payload = text(json.endObject()).getBytes(StandardCharsets.UTF_8);
      if (payload.length > MAX_BYTES) {
        throw new IllegalArgumentException(
            "the write takes " + payload.length + " bytes in a dead letter; at most " + MAX_BYTES + " are possible");
      }
      return payload;
    } catch (IOException problem) {
      throw new IllegalArgumentException("the write cannot be written as JSON: " + problem.getMessage(), problem);
    }
  }

  private static String json(IndexRequest document) throws IOException {
    return XContentType.JSON.equals(document.getContentType()) ? text(document.source())
        : XContentHelper.convertToJson(document.source(), false, document.getContentType());
  }

  /**
   * Without the wish for the document that it becomes: a replay has no use for that. The request itself stays as it is,
   * as another thread may be sending it. A document that is its own upsert
   * is named as that: of a bulk's upserts alone can be said that no pipeline is to be executed.
   */
  private static String body(UpdateRequest update) throws IOException {
    UpdateRequest body = new UpdateRequest(update.index(), update.id()).scriptedUpsert(update.scriptedUpsert())
        .detectNoop(update.detectNoop());
    if (update.doc() != null) {
      body.doc(update.doc());
    }
    if (update.script() != null) {
      body.script(update.script());
    }
    IndexRequest upsert = update.docAsUpsert() ? update.doc() : update.upsertRequest();
    if (upsert != null) {
      body.upsert(upsert);
    }
    return text(body.toXContent(XContentFactory.jsonBuilder(), ToXContent.EMPTY_PARAMS));
  }

  private static String text(XContentBuilder json) throws IOException {
    return text(BytesReference.bytes(json));
  }

  /** What is sent as JSON need not be a text: OpenSearch does not look behind its end. */
  private static String text(BytesReference bytes) throws IOException {
    try {
      return StandardCharsets.UTF_8.newDecoder().onMalformedInput(CodingErrorAction.REPORT)
          .onUnmappableCharacter(CodingErrorAction.REPORT).decode(ByteBuffer.wrap(BytesReference.toBytes(bytes)))
          .toString();
    } catch (CharacterCodingException problem) {
      throw new IOException("it is not UTF-8 throughout", problem);
    }
  }
}
