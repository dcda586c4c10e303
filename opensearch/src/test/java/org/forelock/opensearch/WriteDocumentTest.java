package org.forelock.opensearch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.List;
import java.util.Map;
import org.forelock.search.MonitorRule;
import org.junit.jupiter.api.Test;
import org.opensearch.action.delete.DeleteRequest;
import org.opensearch.action.index.IndexRequest;
import org.opensearch.action.update.UpdateRequest;

class WriteDocumentTest {
  private static final IndexRequest WRITE =
      new IndexRequest("alias").id("7").source(Map.of("article", Map.of("id", 42), "many", List.of(1, 2)));

  @Test
  void fieldsAreFoundInWhatIsSent() {
    MonitorRule rule = MonitorRule.parse("field:article.id");
    assertEquals("42", rule.monitor("articles", new WriteDocument(WRITE), null));
    UpdateRequest update = new UpdateRequest("alias", "7").doc(Map.of("article", Map.of("id", "x")));
    assertEquals("x", rule.monitor("articles", new WriteDocument(update), null));
    assertNull(new WriteDocument(new DeleteRequest("articles", "7")).field("article.id"));
  }

  @Test
  void whatItIsAndWhatIsDone() {
    assertEquals("7", new WriteDocument(WRITE).id());
    assertEquals("index", new WriteDocument(WRITE).operation());
    assertEquals("delete", new WriteDocument(new DeleteRequest("articles", "7")).operation());
  }
}
