package org.forelock.elasticsearch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.List;
import java.util.Map;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.common.util.concurrent.ThreadContext;
import org.elasticsearch.common.util.concurrent.ThreadContext.StoredContext;
import org.forelock.search.Headers;
import org.junit.jupiter.api.Test;

class CarrierTest {
  private final ThreadContext here = new ThreadContext(Settings.EMPTY);

  @Test
  void theLaterValueIsHandedOnUntilItIsClosed() {
    try (StoredContext outer = Carrier.with(here, Headers.GUARD, "node 1 2 ")) {
      try (StoredContext inner = Carrier.with(here, Headers.GUARD, "node 3 4 ")) {
        assertEquals("node 3 4 ", Carrier.get(here, Headers.GUARD));
      }
      assertEquals("node 1 2 ", Carrier.get(here, Headers.GUARD));
      try (StoredContext none = Carrier.without(here, List.of(Headers.GUARD, Headers.UPDATE_GUARD))) {
        assertNull(Carrier.get(here, Headers.GUARD));
        try (StoredContext again = Carrier.with(here, Headers.GUARD, "node 5 6 ")) {
          assertEquals("node 5 6 ", Carrier.get(here, Headers.GUARD));
        }
      }
      assertEquals("node 1 2 ", Carrier.get(here, Headers.GUARD));
    }
    assertNull(Carrier.get(here, Headers.GUARD));
  }

  /** What another node gets are the headers. */
  @Test
  void whatIsForgottenIsForgottenOnAnotherNodeToo() {
    ThreadContext there = new ThreadContext(Settings.EMPTY);
    try (StoredContext outer = Carrier.with(here, Headers.GUARD, "node 1 2 ");
        StoredContext held = Carrier.with(here, Headers.HELD_WITHIN, "P1=7");
        StoredContext none = Carrier.without(here, List.of(Headers.GUARD))) {
      Map<String, String> headers = here.getHeaders();
      headers.forEach(there::putHeader);
    }
    assertNull(Carrier.get(there, Headers.GUARD));
    assertEquals("P1=7", Carrier.get(there, Headers.HELD_WITHIN));
  }
}
