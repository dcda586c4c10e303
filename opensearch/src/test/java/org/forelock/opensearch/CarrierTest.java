package org.forelock.opensearch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.io.IOException;
import java.util.List;
import org.forelock.search.Headers;
import org.junit.jupiter.api.Test;
import org.opensearch.common.io.stream.BytesStreamOutput;
import org.opensearch.common.settings.Settings;
import org.opensearch.common.util.concurrent.ThreadContext;
import org.opensearch.common.util.concurrent.ThreadContext.StoredContext;

class CarrierTest {
  private final ThreadContext here = context();
  private final ThreadContext there = context();

  private static ThreadContext context() {
    ThreadContext context = new ThreadContext(Settings.EMPTY);
    context.registerThreadContextStatePropagator(new Carrier());
    return context;
  }

  /** As OpenSearch Security does before it sends: a new context, with headers of its own. */
  private void send() throws IOException {
    try (StoredContext ignored = here.stashContext(); BytesStreamOutput out = new BytesStreamOutput()) {
      here.putHeader("_opendistro_security_remotecn", "forelock");
      here.writeTo(out);
      there.readHeaders(out.bytes().streamInput());
    }
    Carrier.receive(there);
  }

  @Test
  void reachesAnotherNodeThroughANewContext() throws IOException {
    try (StoredContext ignored = Carrier.with(here, Headers.GUARD, "node 1 2 ")) {
      send();
    }
    assertNull(Carrier.get(here, Headers.GUARD));
    assertEquals("node 1 2 ", Carrier.get(there, Headers.GUARD));
    try (StoredContext ignored = there.stashContext()) {
      assertEquals("node 1 2 ", Carrier.get(there, Headers.GUARD), "and goes on from there");
    }
  }

  @Test
  void theLaterValueIsHandedOn() throws IOException {
    try (StoredContext outer = Carrier.with(here, Headers.GUARD, "node 1 2 ");
        StoredContext inner = Carrier.with(here, Headers.GUARD, "node 3 4 ")) {
      send();
    }
    assertEquals("node 3 4 ", Carrier.get(there, Headers.GUARD));
    try (StoredContext none = Carrier.without(there, List.of(Headers.GUARD))) {
      assertNull(Carrier.get(there, Headers.GUARD), "what came as a header, too");
    }
  }

  @Test
  void aLockThatCodeHoldsIsHandedOn() throws IOException {
    try (StoredContext ignored = Carrier.with(here, Headers.HELD_WITHIN, "P1=7")) {
      send();
    }
    assertEquals("P1=7", Carrier.words(there).handedOn(Headers.HELD_WITHIN));
  }

  @Test
  void theNodesOwnWorkIsNoPartOfIt() throws IOException {
    try (StoredContext outer = Carrier.with(here, Headers.BACKGROUND, "true")) {
      here.markAsSystemContext();
      send();
    }
    assertNull(Carrier.get(there, Headers.BACKGROUND));
  }

  @Test
  void thatItIsTheNodesOwnIsHandedOn() throws IOException {
    here.markAsSystemContext();
    try (StoredContext ignored = Carrier.with(here, Headers.OF_NODE, "true")) {
      send();
    }
    assertEquals("true", Carrier.get(there, Headers.OF_NODE));
  }
}
