package org.forelock.opensearch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import org.forelock.LockType;
import org.junit.jupiter.api.Test;
import org.opensearch.common.settings.Settings;
import org.opensearch.common.util.concurrent.ThreadContext;
import org.opensearch.tasks.Task;

class HeadersTest {
  private final ThreadContext context = new ThreadContext(Settings.EMPTY);

  @Test
  void foregroundUnlessSomethingSaysOtherwise() {
    assertEquals(LockType.FOREGROUND, Headers.priority(context));
    context.putTransient(Headers.BACKGROUND, "true");
    assertEquals(LockType.BACKGROUND, Headers.priority(context));
    context.putHeader(Headers.PRIORITY, "Foreground");
    assertEquals(LockType.FOREGROUND, Headers.priority(context), "the client's word goes first");
  }

  @Test
  void anUnknownPriorityIsRefused() {
    context.putHeader(Headers.PRIORITY, "urgent");
    assertEquals("X-Forelock-Priority: 'urgent' is invalid; write foreground or background",
        assertThrows(IllegalArgumentException.class, () -> Headers.priority(context)).getMessage());
  }

  @Test
  void whatASecurityPluginLetsPass() {
    context.putHeader(Task.X_OPAQUE_ID, "import-3; x-forelock-priority=background;X-Forelock-Required=yes");
    assertEquals(LockType.BACKGROUND, Headers.priority(context));
    assertEquals("X-Forelock-Required: 'yes' is invalid; write true or false",
        assertThrows(IllegalArgumentException.class, () -> Headers.requiresLock(context)).getMessage());
    assertFalse(Headers.wantsReport(context));
    context.putHeader(Headers.PRIORITY, "foreground");
    assertEquals(LockType.FOREGROUND, Headers.priority(context), "a header goes first");
  }

  @Test
  void theQueueIsAskedForInOneWord() {
    assertFalse(Headers.wantsQueue(context));
    context.putHeader(Headers.QUEUE, "yes");
    assertEquals("X-Forelock-Queue, forelock_queue: 'yes' is invalid; write true or false",
        assertThrows(IllegalArgumentException.class, () -> Headers.wantsQueue(context)).getMessage());
  }

  @Test
  void whatIsNeitherTrueNorFalseIsRefused() {
    assertFalse(Headers.requiresLock(context));
    assertFalse(Headers.wantsReport(context));
    context.putHeader(Headers.REQUIRED, "True");
    context.putHeader(Headers.REPORT, "1");
    assertEquals("X-Forelock-Required: 'True' is invalid; write true or false",
        assertThrows(IllegalArgumentException.class, () -> Headers.requiresLock(context)).getMessage());
    assertEquals("X-Forelock-Report: '1' is invalid; write true or false",
        assertThrows(IllegalArgumentException.class, () -> Headers.wantsReport(context)).getMessage());
  }

  @Test
  void whoHoldsALockAsksForNothingWithoutOne() {
    assertEquals(null, Headers.held(context));
    context.putHeader(Task.X_OPAQUE_ID, "shop;X-Forelock-Held=a%3Bb=7, c=8");
    assertEquals(7, Headers.held(context).of("a;b"));
    assertEquals(8, Headers.held(context).of("c"));
    assertTrue(Headers.requiresLock(context));
    context.putHeader(Headers.HELD, "x");
    assertThrows(IllegalArgumentException.class, () -> Headers.requiresLock(context));
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
    assertTrue(Guard.parse(Guard.allowed("").text()).allowed());
    assertEquals("", Guard.parse(new Guard("node", 1, 2, "").text()).monitor);
  }

  @Test
  void aSelectionNamesSomething() {
    assertThrows(IllegalArgumentException.class, () -> Selection.of(Map.of()));
    assertThrows(IllegalArgumentException.class, () -> Selection.of(Map.of("priority", "both")));
    assertThrows(IllegalArgumentException.class, () -> Selection.of(Map.of("task", "5")));
    Selection.of(Map.of("monitor", "a"));
  }
}
