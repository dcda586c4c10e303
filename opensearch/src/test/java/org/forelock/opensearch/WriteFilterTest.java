package org.forelock.opensearch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.forelock.search.Headers;
import org.forelock.search.HeldRequests;
import org.forelock.search.PartReports;
import org.junit.jupiter.api.Test;
import org.opensearch.action.ActionRequest;
import org.opensearch.action.bulk.BulkItemRequest;
import org.opensearch.action.bulk.BulkItemResponse;
import org.opensearch.action.bulk.BulkRequest;
import org.opensearch.action.bulk.BulkResponse;
import org.opensearch.action.bulk.BulkShardRequest;
import org.opensearch.action.support.ActionFilterChain;
import org.opensearch.action.support.WriteRequest.RefreshPolicy;
import org.opensearch.action.update.UpdateRequest;
import org.opensearch.common.settings.Settings;
import org.opensearch.common.util.concurrent.ThreadContext;
import org.opensearch.common.util.concurrent.ThreadContext.StoredContext;
import org.opensearch.core.action.ActionListener;
import org.opensearch.core.action.ActionResponse;
import org.opensearch.core.index.shard.ShardId;

class WriteFilterTest {
  private static final String UPDATE = "indices:data/write/update";
  private static final String BULK = "indices:data/write/bulk";
  private static final String SHARD_BULK = "indices:data/write/bulk[s]";
  private static final ActionListener<ActionResponse> NOBODY = ActionListener.wrap(() -> {});

  private final ThreadContext context = new ThreadContext(Settings.EMPTY);
  private final WriteFilter filter = filter();
  /** What follows is told of its node's own account. */
  private final List<String> told = new ArrayList<>();

  private WriteFilter filter() {
    HeldRequests requests = TestSettings.unbounded();
    // Without a cluster: whoever asks for an index fails.
    WritePlanner planner = new WritePlanner(null, null, context, requests, null);
    return new WriteFilter(TestSettings.of(Settings.EMPTY), planner, null, null, context,
        new LateWrites(null, context, null), null, new ForegroundPermit<>(TestSettings.of(Settings.EMPTY), null));
  }

  private void apply(String action, ActionRequest request) {
    apply(action, request, NOBODY, (task, name, passed, listener) -> {
      told.add(Carrier.get(context, Headers.OF_NODE));
      assertNull(Carrier.get(context, Headers.GUARD));
      assertNull(Carrier.get(context, Headers.UPDATE_GUARD));
    });
  }

  private void apply(String action, ActionRequest request, ActionListener<ActionResponse> listener,
      ActionFilterChain<ActionRequest, ActionResponse> chain) {
    filter.apply(null, action, request, listener, chain);
  }

  private static BulkShardRequest part() {
    return new BulkShardRequest(new ShardId("i", "uuid", 0), RefreshPolicy.NONE,
        new BulkItemRequest[] {new BulkItemRequest(0, new UpdateRequest("i", "1").doc(Map.of("n", 1)))});
  }

  @Test
  void whatANodeDoesOnItsOwnAccountTellsTheNodeThatGoesOnWithIt() {
    UpdateRequest update = new UpdateRequest("i", "1").doc(Map.of("n", 1));
    try (StoredContext ignored = context.stashWithOrigin("tasks")) {
      apply(UPDATE, update);
      apply(BULK, new BulkRequest().add(update));
    }
    try (StoredContext ignored = context.stashContext()) {
      context.markAsSystemContext();
      apply(UPDATE, update);
    }
    assertEquals(List.of("true", "true", "true"), told);
    assertNull(Carrier.get(context, Headers.OF_NODE), "not what comes later");
  }

  @Test
  void anotherNodeDoesNotGuardIt() {
    try (StoredContext ignored = Carrier.with(context, Headers.OF_NODE, "true")) {
      apply(SHARD_BULK, part());
    }
    assertEquals(List.of("true"), told);
  }

  @Test
  void itHasNoLocksOfTheWriteWithinWhichItBegan() {
    try (StoredContext ignored = Carrier.with(context, Headers.UPDATE_GUARD, "node 1 2 0 m")) {
      context.putTransient(ThreadContext.ACTION_ORIGIN_TRANSIENT_NAME, "tasks");
      apply(UPDATE, new UpdateRequest("i", "1").doc(Map.of("n", 1)));
    }
    assertEquals(List.of("true"), told);
  }

  @Test
  void aBulkSaysWhatAllItsPartsHaveToSay() {
    List<Map<String, List<String>>> headers = new ArrayList<>();
    ActionListener<ActionResponse> listener =
        ActionListener.wrap(() -> headers.add(context.getResponseHeaders()));
    apply(BULK, new BulkRequest(), listener, (task, action, request, answer) -> {
      PartReports reports = BulkReports.of(context);
      for (long token : new long[] {18, 17}) {
        try (StoredContext ignored = context.stashContext()) {
          reports.granted(3, token);
          reports.tryAgainAfter(1);
        }
      }
      try (StoredContext ignored = context.stashContext()) {
        answer.onResponse(new BulkResponse(new BulkItemResponse[0], 1));
      }
    });
    assertEquals(List.of(Map.of("X-Forelock-Wait-Ms", List.of("3, 3"), "X-Forelock-Token", List.of("18, 17"),
        "Retry-After", List.of("1"))), headers);
    assertNull(BulkReports.of(context));
  }
}
