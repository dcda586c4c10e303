package org.forelock.search;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.forelock.LockType;
import org.junit.jupiter.api.Test;

class LeaseRequestTest {
  private static final List<String> ONE = List.of("P1");
  private final FakeLeaseLimits limits = new FakeLeaseLimits();

  private LeaseRequest parse(Map<String, ?> body) {
    return LeaseRequest.parse(body, limits);
  }

  private void refuses(String field, Object value, String... words) {
    Map<String, Object> body = new HashMap<>(Map.of("monitors", ONE));
    body.put(field, value);
    String said = assertThrows(IllegalArgumentException.class, () -> parse(body)).getMessage();
    for (String word : words) {
      assertTrue(said.contains(word), said);
    }
  }

  @Test
  void readsWhatIsGivenAndElseWhatIsUsual() {
    assertEquals(
        new LeaseRequest(ONE, LockType.FOREGROUND, false, -1, 10_000, "lease"), parse(Map.of("monitors", ONE)));
    assertEquals(new LeaseRequest(List.of("A", "B"), LockType.BACKGROUND, true, 500, 60_000, "stock"),
        parse(Map.of("monitors", List.of("B", "A"), "priority", "background", "timeout", "500ms", "keep", "1m",
            "info", "stock")));
    assertEquals(0, parse(Map.of("monitors", ONE, "timeout", "0s")).timeoutMillis());
    limits.mostKeepMillis = 5000;
    assertEquals(5000, parse(Map.of("monitors", ONE)).keepMillis(), "what is usual gives way to the setting");
  }

  @Test
  void isTheSameInTheBackground() {
    LeaseRequest wanted = parse(Map.of("monitors", ONE, "timeout", "500ms", "info", "stock"));
    assertEquals(new LeaseRequest(ONE, LockType.BACKGROUND, false, 500, 10_000, "stock"), wanted.inBackground());
  }

  @Test
  void saysWhatIsWrongWithTheRest() {
    refuses("monitor", "P1", "'monitor'", "monitors");
    refuses("monitors", "P1", "monitors", "[\"P1\"]");
    refuses("monitors", List.of(), "monitors");
    refuses("monitors", List.of("P1", "P1"), "'P1'", "twice");
    refuses("monitors", Collections.singletonList(5), "'5'");
    refuses("monitors", IntStream.range(0, 1001).mapToObj(Integer::toString).toList(), "1001", "1000");
    refuses("priority", "urgent", "'urgent'", "background");
    refuses("keep", "soon", "keep: 'soon'", "10s");
    refuses("keep", 10, "keep: '10'", "10s");
    refuses("keep", "10ms", "100ms");
    refuses("keep", "61s", "forelock.leases.max_keep", "60000ms");
    refuses("timeout", "-1s", "timeout: '-1s'");
    refuses("timeout", "10m", "forelock.leases.max_timeout");
    refuses("info", 7, "info", "1000");
    refuses("info", "x".repeat(1001), "info", "1000");
  }
}
