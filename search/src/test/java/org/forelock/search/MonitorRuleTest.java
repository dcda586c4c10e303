package org.forelock.search;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class MonitorRuleTest {
  private static final Document WRITE = new Write("index", "7", Map.of("article.id", 42, "many", List.of(1, 2)));

  private record Write(String operation, String id, Map<String, ?> fields) implements Document {
    @Override
    public Object field(String path) {
      return fields.get(path);
    }
  }

  @Test
  void eachRule() {
    assertEquals("articles/7", MonitorRule.parse("document").monitor("articles", WRITE, null));
    assertEquals("7", MonitorRule.parse("id").monitor("articles", WRITE, null));
    assertEquals("r", MonitorRule.parse("routing").monitor("articles", WRITE, "r"));
    assertEquals("42", MonitorRule.parse("field:article.id").monitor("articles", WRITE, null));
  }

  /** Programs of other languages have to come to the same numbers. */
  @Test
  void bucketsAreCountedByTheCrcOfTheId() {
    assertEquals("articles/~2", MonitorRule.parse("bucket:64").monitor("articles", WRITE, "r"));
    Document named = new Write("delete", "\u00fcber", Map.of());
    assertEquals("articles/~1160", MonitorRule.parse("bucket:65536").monitor("articles", named, null));
    assertEquals("articles/~0", MonitorRule.parse("bucket:1").monitor("articles", named, null));
    assertTrue(MonitorRule.parse("bucket:64").byId());
    Document unnamed = new Write("index", null, Map.of());
    assertThrows(
        IllegalArgumentException.class, () -> MonitorRule.parse("bucket:64").monitor("articles", unnamed, null));
  }

  @Test
  void monitorsStayWhereThereAreNeverMany() {
    assertTrue(MonitorRule.parse("bucket:64").keepsMonitors());
    for (String other : new String[] {"document", "id", "routing", "field:bucket"}) {
      assertFalse(MonitorRule.parse(other).keepsMonitors(), other);
    }
  }

  @Test
  void whatIsMissingIsNamed() {
    String message = assertThrows(IllegalArgumentException.class,
        () -> MonitorRule.parse("field:other").monitor("articles", WRITE, null)).getMessage();
    assertEquals("index.forelock.monitor is 'field:other': the index of document [7] needs the field 'other' in what"
        + " is sent", message);
    Document delete = new Write("delete", "7", Map.of());
    assertThrows(IllegalArgumentException.class, () -> MonitorRule.parse("field:a").monitor("articles", delete, null));
    assertThrows(IllegalArgumentException.class, () -> MonitorRule.parse("routing").monitor("articles", WRITE, null));
    assertThrows(
        IllegalArgumentException.class, () -> MonitorRule.parse("field:many").monitor("articles", WRITE, null));
  }

  @Test
  void whatIsNoRuleIsRefused() {
    String[] none = {"", "field:", "Id", "ids", "bucket:", "bucket:0", "bucket:01", "bucket:65537", "bucket:-1"};
    for (String text : none) {
      assertThrows(IllegalArgumentException.class, () -> MonitorRule.parse(text), text);
    }
  }

  @Test
  void theCharacter0IsRefused() {
    for (String rule : new String[] {"document", "id", "routing", "field:k"}) {
      String message = assertThrows(IllegalArgumentException.class, () -> MonitorRule.parse(rule).monitor("articles",
          new Write("index", "a\0b", Map.of("k", "a\0b")), "a\0b"), rule).getMessage();
      assertTrue(message.contains("the character 0"), message);
    }
  }

  @Test
  void halfACharacterIsRefused() {
    for (String rule : new String[] {"document", "id", "routing", "field:k"}) {
      String message = assertThrows(IllegalArgumentException.class, () -> MonitorRule.parse(rule).monitor("articles",
          new Write("index", "a\uD83D", Map.of("k", "a\uD83D")), "a\uD83D"), rule).getMessage();
      assertTrue(message.contains("half of a surrogate pair"), message);
    }
  }

  @Test
  void longNamesEndWithADigest() {
    String fits = "x".repeat(251 - "articles".length());
    assertEquals("articles/" + fits, MonitorRule.document("articles", fits), "a slash takes three bytes");
    String longer = MonitorRule.document("articles", fits + "y");
    assertTrue(longer.startsWith("articles/xxx"), longer);
    assertEquals(253, longer.length());
    assertNotEquals(longer, MonitorRule.document("articles", fits + "z"));
    String wide = MonitorRule.document("articles", "\uD83D\uDE00".repeat(100));
    assertTrue(wide.matches("articles/(\uD83D\uDE00)+~[0-9a-f]{64}"), wide);
  }
}
