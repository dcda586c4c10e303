package org.forelock.search;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class FenceTest {
  @Test
  void withoutOneTheTokenIsTheVersion() {
    assertEquals(7, Fence.NONE.version("a", 7));
    assertEquals(7, Fence.NONE.version("", 7));
    assertSame(Fence.NONE, Fence.parse(""));
    assertEquals("", Fence.NONE.text());
  }

  @Test
  void tokensOfTheNewNamespaceRiseAboveThoseOfTheOldOne() {
    Fence fence = Fence.NONE.above("new", 5, 1000);
    assertTrue(fence.version("new", 6) > 1000);
    assertEquals(900, fence.version("old", 900), "whose holders are still refused");
    assertEquals(900, fence.version("", 900), "so is a node that does not know its namespace");
    assertEquals(fence, Fence.parse(fence.text()));
  }

  @Test
  void isLeftAsItIsWhereTokensAreAboveAlready() {
    assertSame(Fence.NONE, Fence.NONE.above("a", 1001, 1000));
    Fence fence = Fence.NONE.above("new", 5, 1000);
    assertSame(fence, fence.above("new", 7, fence.version("new", 6)));
  }

  @Test
  void versionsNeverFall() {
    Fence first = Fence.NONE.above("a", 5, 1000);
    Fence second = first.above("b", 3, first.version("a", 50));
    assertTrue(second.version("b", 3) > first.version("a", 50));
    Fence back = second.above("a", 60, second.version("b", 9));
    assertTrue(back.version("a", 61) > second.version("b", 9));
    Fence raised = first.above("a", 6, 5000); // an unlocked write has left it
    assertTrue(raised.version("a", 7) > 5000);
  }

  @Test
  void refusesWhatLeavesNoRoom() {
    Refusal refusal = assertThrows(Refusal.class, () -> Fence.NONE.above("a", 5, Long.MAX_VALUE - 1));
    assertEquals("no_room", refusal.code);
    for (String text : new String[] {"a", "a b", "a -1", "a 1 2", " 1"}) {
      assertThrows(IllegalArgumentException.class, () -> Fence.parse(text), text);
    }
  }
}
