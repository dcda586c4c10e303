package org.forelock.search;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
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
  void somethingMustBeNamed() {
    assertThrows(IllegalArgumentException.class, () -> Selection.of(Map.of("pretty", "true")));
    assertThrows(IllegalArgumentException.class, () -> Selection.of(Map.of("priority", "high")));
  }
}
