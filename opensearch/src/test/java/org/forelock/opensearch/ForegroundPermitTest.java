package org.forelock.opensearch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.forelock.LockType;
import org.forelock.search.Refusal;
import org.junit.jupiter.api.Test;
import org.opensearch.OpenSearchSecurityException;
import org.opensearch.common.settings.Settings;
import org.opensearch.core.rest.RestStatus;

class ForegroundPermitTest {
  private static final ForelockSettings RESTRICTED =
      TestSettings.of(Settings.builder().put("forelock.foreground.restricted", true).build());

  private final AtomicInteger asked = new AtomicInteger();
  private final List<Map<String, Object>> wishes = new ArrayList<>();
  private final List<Exception> refusals = new ArrayList<>();

  /** @param problem of the action; null: it is permitted */
  private ForegroundPermit<Object> permit(ForelockSettings settings, Exception problem) {
    return new ForegroundPermit<>(settings, listener -> {
      asked.incrementAndGet();
      if (problem == null) {
        listener.onResponse(new Object());
      } else {
        listener.onFailure(problem);
      }
    });
  }

  private void wish(ForegroundPermit<Object> permit, Map<String, Object> lease) {
    permit.within(lease, (wish, refusal) -> {
      if (refusal == null) {
        wishes.add(wish);
      } else {
        refusals.add(refusal);
      }
    });
  }

  private static Exception forbidden() {
    return new OpenSearchSecurityException("no permissions", RestStatus.FORBIDDEN);
  }

  @Test
  void isNeededForTheForegroundWhereItIsRestricted() {
    assertTrue(permit(RESTRICTED, null).isNeeded(LockType.FOREGROUND));
    assertFalse(permit(RESTRICTED, null).isNeeded(LockType.BACKGROUND));
    assertFalse(permit(TestSettings.of(Settings.EMPTY), null).isNeeded(LockType.FOREGROUND));
  }

  @Test
  void isRefusedOrNotKnown() {
    permit(RESTRICTED, forbidden()).ask((permitted, problem) -> {
      assertFalse(permitted);
      assertNull(problem);
    });
    Exception closing = new IllegalStateException("the node is closing");
    permit(RESTRICTED, closing).ask((permitted, problem) -> {
      assertFalse(permitted);
      assertSame(closing, problem);
    });
    permit(RESTRICTED, null).ask((permitted, problem) -> assertTrue(permitted));
    assertEquals(3, asked.get());
  }

  @Test
  void aLeaseIsBackgroundForWhomIsNotPermittedMore() {
    Map<String, Object> lease = Map.of("monitors", List.of("P1"));
    wish(permit(RESTRICTED, forbidden()), lease);
    wish(permit(RESTRICTED, null), lease);
    assertEquals(List.of(Map.of("monitors", List.of("P1"), "priority", "background"), lease), wishes);
    wish(permit(RESTRICTED, forbidden()), Map.of("monitors", List.of("P1"), "priority", "foreground"));
    assertEquals("foreground_not_permitted", ((Refusal) refusals.get(0)).code);
    assertEquals(403, ((Refusal) refusals.get(0)).status);
  }

  @Test
  void aLeaseInTheBackgroundAsksNobody() {
    Map<String, Object> lease = Map.of("monitors", List.of("P1"), "priority", "background");
    wish(permit(RESTRICTED, forbidden()), lease);
    wish(permit(TestSettings.of(Settings.EMPTY), forbidden()), Map.of());
    wish(permit(RESTRICTED, forbidden()), Map.of("priority", "urgent")); // refused for itself
    assertEquals(List.of(lease, Map.of(), Map.of("priority", "urgent")), wishes);
    assertEquals(0, asked.get());
  }
}
