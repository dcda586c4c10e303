package org.forelock.search;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HeldTokensTest {
  @Test
  void oneTokenIsForWhateverMonitorTheWriteHas() {
    HeldTokens held = HeldTokens.parse(" 42 ");
    assertEquals(42, held.of("articles/1"));
    held.check(Set.of("a"));
    String problem = assertThrows(IllegalArgumentException.class, () -> held.check(Set.of("a", "b"))).getMessage();
    assertTrue(problem.contains("2 monitors") && problem.contains("monitor=token"), problem);
  }

  @Test
  void severalAreByTheirMonitors() {
    HeldTokens held = HeldTokens.parse("articles%2F1=7,b+c=8 , %C3%A4%2C%3D=9");
    assertEquals(7, held.of("articles/1"));
    assertEquals(8, held.of("b+c"), "a plus is a plus");
    assertEquals(9, held.of("ä,="));
    assertEquals(0, held.of("d"));
    held.check(Set.of("a", "b"));
    assertEquals("articles/1 and 2 more", held.names());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "x", "0", "-1", "9223372036854775808", "a=", "a=x", "=1", "a=1,", "a=1,b", "a=1,a=2",
      "a b=1", "ä=1", "a%=1", "a%2=1", "a%zz=1", "%ff=1", "1,2", "a=1=2"})
  void whatIsInvalidSaysWhatAndWhere(String text) {
    String problem = assertThrows(IllegalArgumentException.class, () -> HeldTokens.parse(text)).getMessage();
    assertTrue(problem.startsWith("X-Forelock-Held: ") && problem.contains("entry "), problem);
  }

  @Test
  void theNumberIsBounded() {
    String most = "a=1" + ",b=1".repeat(HeldTokens.MAX_MONITORS);
    String problem = assertThrows(IllegalArgumentException.class, () -> HeldTokens.parse(most)).getMessage();
    assertTrue(problem.contains("1001"), problem);
  }

  @Test
  void eachDocumentHasTheTokenOfItsOwnLock() {
    HeldTokens held = HeldTokens.parse("a=7,b=9");
    String[] ids = {"1 /", "2", "3", "1 /"};
    DocumentTokens tokens = DocumentTokens.of(ids, new String[] {"a", "a", null, "b"}, held);
    DocumentTokens parsed = DocumentTokens.parse(tokens.text());
    assertEquals(-1, tokens.text().indexOf(' '));
    assertEquals(9, parsed.of("1 /", 0), "of two locks the later one's");
    assertEquals(7, parsed.of("2", 0));
    assertEquals(5, parsed.of("3", 5));
    assertSame(DocumentTokens.NONE, DocumentTokens.of(new String[] {"1", "2"}, new String[] {"a", "a"}, held));
    assertSame(DocumentTokens.NONE, DocumentTokens.parse(DocumentTokens.NONE.text()));
  }

  @Test
  void whatTravelsWithAWriteIsBounded() {
    String[] ids = new String[DocumentTokens.MAX_DOCUMENTS + 1];
    String[] monitors = new String[ids.length];
    for (int i = 0; i < ids.length; ++i) {
      ids[i] = "d" + i;
      monitors[i] = i == 0 ? "a" : "b";
    }
    assertThrows(IllegalArgumentException.class,
        () -> DocumentTokens.of(ids, monitors, HeldTokens.parse("a=7,b=9")));
  }
}
