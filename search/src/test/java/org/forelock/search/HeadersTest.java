package org.forelock.search;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import org.forelock.LockType;
import org.junit.jupiter.api.Test;

class HeadersTest {
  private final FakeWords words = new FakeWords();

  @Test
  void foregroundUnlessSomethingSaysOtherwise() {
    assertEquals(LockType.FOREGROUND, Headers.priority(words));
    words.handOn(Headers.BACKGROUND, "true");
    assertEquals(LockType.BACKGROUND, Headers.priority(words));
    words.putHeader(Headers.PRIORITY, "Foreground");
    assertEquals(LockType.FOREGROUND, Headers.priority(words), "the client's word goes first");
  }

  @Test
  void anUnknownPriorityIsRefused() {
    words.putHeader(Headers.PRIORITY, "urgent");
    assertEquals("X-Forelock-Priority: 'urgent' is invalid; write foreground or background",
        assertThrows(IllegalArgumentException.class, () -> Headers.priority(words)).getMessage());
  }

  @Test
  void whatASecurityPluginLetsPass() {
    words.putHeader(Headers.OPAQUE_ID, "import-3; x-forelock-priority=background;X-Forelock-Required=yes");
    assertEquals(LockType.BACKGROUND, Headers.priority(words));
    assertEquals("X-Forelock-Required: 'yes' is invalid; write true or false",
        assertThrows(IllegalArgumentException.class, () -> Headers.requiresLock(words)).getMessage());
    assertFalse(Headers.wantsReport(words));
    words.putHeader(Headers.PRIORITY, "foreground");
    assertEquals(LockType.FOREGROUND, Headers.priority(words), "a header goes first");
  }

  @Test
  void theQueueIsAskedForInOneWord() {
    assertFalse(Headers.wantsQueue(words));
    words.putHeader(Headers.QUEUE, "yes");
    assertEquals("X-Forelock-Queue, forelock_queue: 'yes' is invalid; write true or false",
        assertThrows(IllegalArgumentException.class, () -> Headers.wantsQueue(words)).getMessage());
  }

  @Test
  void whatIsNeitherTrueNorFalseIsRefused() {
    assertFalse(Headers.requiresLock(words));
    assertFalse(Headers.wantsReport(words));
    words.putHeader(Headers.REQUIRED, "True");
    words.putHeader(Headers.REPORT, "1");
    assertEquals("X-Forelock-Required: 'True' is invalid; write true or false",
        assertThrows(IllegalArgumentException.class, () -> Headers.requiresLock(words)).getMessage());
    assertEquals("X-Forelock-Report: '1' is invalid; write true or false",
        assertThrows(IllegalArgumentException.class, () -> Headers.wantsReport(words)).getMessage());
  }

  @Test
  void whoHoldsALockAsksForNothingWithoutOne() {
    assertEquals(null, Headers.held(words));
    words.putHeader(Headers.OPAQUE_ID, "shop;X-Forelock-Held=a%3Bb=7, c=8");
    assertEquals(7, Headers.held(words).of("a;b"));
    assertEquals(8, Headers.held(words).of("c"));
    assertTrue(Headers.requiresLock(words));
    words.putHeader(Headers.HELD, "x");
    assertThrows(IllegalArgumentException.class, () -> Headers.requiresLock(words));
  }

  @Test
  void whatCodeOfTheNodeHoldsGoesOverWhatItsClientSays() {
    words.putHeader(Headers.HELD, "a=7");
    words.handOn(Headers.HELD_WITHIN, "b=8");
    assertEquals(8, Headers.held(words).of("b"));
    assertEquals(0, Headers.held(words).of("a"));
    assertTrue(Headers.requiresLock(words));
  }

  @Test
  void aGuardSurvivesItsText() {
    Guard guard = Guard.parse(new Guard("node", -5, 7, "articles/a b").text());
    assertEquals("node", guard.node);
    assertEquals(-5, guard.ticket);
    assertEquals(7, guard.token);
    assertEquals("articles/a b", guard.monitor);
    assertFalse(guard.allowed());
    assertEquals(7, guard.tokens.of("1", guard.token));
    assertEquals("", guard.namespace);
    guard = Guard.parse(new Guard("node", 1, 7, DocumentTokens.NONE, "6f1e-2a", "a b").withAttempt(2).text());
    assertEquals("6f1e-2a", guard.namespace);
    assertEquals("a b", guard.monitor);
    assertEquals(2, guard.attempt);
    assertTrue(Guard.parse(Guard.allowed("").text()).allowed());
    assertEquals("", Guard.parse(new Guard("node", 1, 2, "").text()).monitor);
  }

  @Test
  void aGuardOfALaterVersionIsGoneOnWith() {
    String later = new Guard("node", 7, 9, "a b").text().replace(" - ", " until=5 ");
    Guard guard = Guard.parse(later);
    assertEquals("a b", guard.monitor);
    assertEquals(later, guard.text(), "and is handed on as it came");
    assertEquals(guard.withAttempt(0).sentAgain().text(), later.replace("false", "true"));
    for (String other : new String[] {"2" + later.substring(1), "node 7 9", ""}) {
      assertTrue(assertThrows(IllegalArgumentException.class, () -> Guard.parse(other)).getMessage()
          .contains("versions of Forelock's plugin that do not go together"));
    }
  }

  @Test
  void aSelectionNamesSomething() {
    assertThrows(IllegalArgumentException.class, () -> Selection.of(Map.of()));
    assertThrows(IllegalArgumentException.class, () -> Selection.of(Map.of("priority", "both")));
    assertThrows(IllegalArgumentException.class, () -> Selection.of(Map.of("task", "5")));
    Selection.of(Map.of("monitor", "a"));
  }
}
