package org.forelock.search;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import org.forelock.LockType;
import org.junit.jupiter.api.Test;

class SelectionTest {
  @Test
  void whatIsNoTaskIsRefused() {
    for (String task : new String[] {"", "unset", "node", "node:x"}) {
      String message =
          assertThrows(IllegalArgumentException.class, () -> Selection.of(Map.of("task", task)), task).getMessage();
      assertTrue(message.contains(task), message);
    }
    assertDoesNotThrow(() -> Selection.of(Map.of("task", "node:7")));
  }

  @Test
  void whatIsNotMeantForItIsNotTaken() {
    Map<String, String> given = Map.of("task", "node:7", "to", "background", "pretty", "true");
    assertEquals(Map.of("task", "node:7", "to", "background"), Selection.parameters(given::get, true));
    assertEquals(Map.of("task", "node:7"), Selection.parameters(given::get, false));
    assertEquals(LockType.BACKGROUND, Selection.wanted(given));
    assertEquals(LockType.FOREGROUND, Selection.wanted(Map.of()));
    assertThrows(IllegalArgumentException.class, () -> Selection.parameters(Map.of("to", "foreground")::get, true));
    Map<String, String> high = Map.of("task", "node:7", "to", "high");
    String message =
        assertThrows(IllegalArgumentException.class, () -> Selection.parameters(high::get, true)).getMessage();
    assertEquals("to: 'high' is invalid; write foreground or background", message);
  }

  @Test
  void somethingMustBeNamed() {
    assertThrows(IllegalArgumentException.class, () -> Selection.of(Map.of("pretty", "true")));
    assertThrows(IllegalArgumentException.class, () -> Selection.of(Map.of("priority", "high")));
  }
}
