package org.forelock.opensearch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.forelock.LockType;
import org.forelock.search.LeaseRequest;
import org.forelock.search.Refusal;
import org.junit.jupiter.api.Test;
import org.opensearch.OpenSearchSecurityException;
import org.opensearch.common.settings.Settings;
import org.opensearch.core.rest.RestStatus;

class ForegroundPermitTest {
  private static final ForelockSettings RESTRICTED =
      TestSettings.of(Settings.builder().put("forelock.foreground.restricted", true).build());

  private final AtomicInteger asked = new AtomicInteger();
  private final List<LeaseRequest> wishes = new ArrayList<>();
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

  private static LeaseRequest lease(LockType type, boolean named) {
    return new LeaseRequest(List.of("P1"), type, named, -1, 10_000, "lease");
  }

  private void wish(ForegroundPermit<Object> permit, LeaseRequest lease) {
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
    LeaseRequest usual = lease(LockType.FOREGROUND, false);
    wish(permit(RESTRICTED, forbidden()), usual);
    wish(permit(RESTRICTED, null), usual);
    assertEquals(List.of(lease(LockType.BACKGROUND, false), usual), wishes);
    wish(permit(RESTRICTED, forbidden()), lease(LockType.FOREGROUND, true));
    assertEquals("foreground_not_permitted", ((Refusal) refusals.get(0)).code);
    assertEquals(403, ((Refusal) refusals.get(0)).status);
  }

  @Test
  void aLeaseInTheBackgroundAsksNobody() {
    LeaseRequest behind = lease(LockType.BACKGROUND, true);
    wish(permit(RESTRICTED, forbidden()), behind);
    wish(permit(TestSettings.of(Settings.EMPTY), forbidden()), lease(LockType.FOREGROUND, false));
    assertEquals(List.of(behind, lease(LockType.FOREGROUND, false)), wishes);
    assertEquals(0, asked.get());
  }

  @Test
  void whoAsksIsToldOnceWhateverBecomesOfIt() {
    List<Boolean> told = new ArrayList<>();
    ForegroundPermit<Object> permit = new ForegroundPermit<>(RESTRICTED, listener -> {
      try { // as the node's own listeners do
        listener.onResponse(new Object());
      } catch (IllegalStateException problem) {
        listener.onFailure(problem);
      }
    });
    permit.ask((permitted, problem) -> {
      told.add(permitted);
      throw new IllegalStateException("a defect");
    });
    assertEquals(List.of(true), told);
  }
}
