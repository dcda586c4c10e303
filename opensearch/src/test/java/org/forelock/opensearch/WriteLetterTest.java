package org.forelock.opensearch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.opensearch.action.DocWriteRequest;
import org.opensearch.action.delete.DeleteRequest;
import org.opensearch.action.index.IndexRequest;
import org.opensearch.action.update.UpdateRequest;
import org.opensearch.common.xcontent.XContentHelper;
import org.opensearch.common.xcontent.XContentType;
import org.opensearch.core.common.bytes.BytesArray;
import org.opensearch.core.common.bytes.BytesReference;
import org.opensearch.core.xcontent.MediaType;
import org.opensearch.index.VersionType;
import org.opensearch.script.Script;

class WriteLetterTest {
  private static final MediaType JSON = XContentType.JSON;
  private static final MediaType YAML = XContentType.YAML;

  private static Map<String, Object> letter(DocWriteRequest<?> write) {
    byte[] payload = WriteLetter.payload("articles", write);
    return XContentHelper.convertToMap(new BytesArray(payload), true, JSON).v2();
  }

  @Test
  void aDocumentIsKeptAsItWasSent() {
    String source = "{ \"n\": 12345678901234567890.10,\n \"text\":\"é\\u0000\" }";
    Map<String, Object> letter = letter(new IndexRequest("alias").id("7").routing("r").setIfSeqNo(5)
        .setIfPrimaryTerm(2).source(source, JSON));
    assertEquals(Map.of("schema", 1, "op", "index", "index", "articles", "id", "7", "routing", "r", "if_seq_no", 5,
        "if_primary_term", 2, "pipeline", "_none", "source", source), letter);
  }

  @Test
  void eachKindOfWriteSaysWhatItIs() {
    assertEquals("create", letter(new IndexRequest("i").id("1").create(true).source(Map.of())).get("op"));
    assertEquals(Map.of("schema", 1, "op", "delete", "index", "articles", "id", "1", "version", 3, "version_type",
        "external_gte"), letter(new DeleteRequest("i", "1").version(3).versionType(VersionType.EXTERNAL_GTE)));
    Map<String, Object> update = letter(new UpdateRequest("i", "1").doc(Map.of("n", 1)).docAsUpsert(true)
        .retryOnConflict(2));
    assertEquals("update", update.get("op"));
    assertEquals(2, update.get("retry_on_conflict"));
    assertEquals(Map.of("doc", Map.of("n", 1), "upsert", Map.of("n", 1)), XContentHelper.convertToMap(
        new BytesArray((String) update.get("source")), true, JSON).v2(), "an upsert's pipelines can be left out");
    assertFalse(update.containsKey("pipeline"));
  }

  @Test
  void otherFormsBecomeJson() throws Exception {
    IndexRequest yaml = new IndexRequest("i").id("1").source("n: 1\n", YAML);
    assertEquals("{\"n\":1}", letter(yaml).get("source"));
  }

  @Test
  void whatIsNoTextIsRefused() {
    for (int last : new int[] {0xf4, 0xc3, 0x80}) {
      byte[] source = {'{', '}', (byte) last};
      String message = assertThrows(IllegalArgumentException.class,
          () -> WriteLetter.payload("i", new IndexRequest("i").id("1").source(source, JSON))).getMessage();
      assertTrue(message.contains("not UTF-8"), message);
      byte[] inside = {'{', '"', 'n', '"', ':', '"', (byte) last, '"', '}'};
      assertThrows(IllegalArgumentException.class,
          () -> WriteLetter.payload("i", new UpdateRequest("i", "1").doc(inside, JSON)));
    }
  }

  @Test
  void anUpdateDoesNotAskForTheDocument() {
    UpdateRequest update = new UpdateRequest("i", "1").doc(Map.of("n", 1)).fetchSource(true);
    assertEquals("{\"doc\":{\"n\":1}}", letter(update).get("source"));
    assertTrue(update.fetchSource().fetchSource(), "the request stays as it is");
  }

  /** Its fields cannot be watched, but what is sent of it meanwhile. */
  @Test
  void anUpdateStaysAsItIsWhileALetterIsMadeOfIt() throws Exception {
    UpdateRequest update = new UpdateRequest("i", "1").docAsUpsert(true).fetchSource(true);
    List<List<Object>> seen = new ArrayList<>();
    update.doc(new IndexRequest("i") {
      @Override
      public BytesReference source() {
        seen.add(Arrays.asList(update.docAsUpsert(), update.upsertRequest(), update.fetchSource() == null));
        return super.source();
      }
    }.source(Map.of("n", 1)));
    letter(update);
    assertFalse(seen.isEmpty());
    assertEquals(Set.of(Arrays.asList(true, null, false)), Set.copyOf(seen));
  }

  @Test
  void aScriptIsKeptWithAllThatGoesWithIt() {
    UpdateRequest update = new UpdateRequest("i", "1").script(new Script("ctx._source.n = 1")).scriptedUpsert(true)
        .upsert(Map.of("n", 1)).detectNoop(false);
    Map<String, Object> body = XContentHelper.convertToMap(
        new BytesArray((String) letter(update).get("source")), true, JSON).v2();
    assertEquals(Set.of("script", "upsert", "scripted_upsert", "detect_noop"), body.keySet());
  }

  @Test
  void whatIsTooLargeIsRefused() {
    String source = "{\"text\":\"" + "x".repeat(WriteLetter.MAX_BYTES) + "\"}";
    String message = assertThrows(IllegalArgumentException.class,
        () -> WriteLetter.payload("i", new IndexRequest("i").id("1").source(source, JSON))).getMessage();
    assertTrue(message.contains("at most 1048576"), message);
    assertEquals(-1, new String(WriteLetter.payload("i", new DeleteRequest("i", "1")), StandardCharsets.UTF_8)
        .indexOf('\n'));
  }
}
