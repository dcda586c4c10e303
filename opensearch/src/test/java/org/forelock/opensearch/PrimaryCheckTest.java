package org.forelock.opensearch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import org.forelock.LockType;
import org.forelock.search.Certainty;
import org.forelock.search.CertaintySource;
import org.forelock.search.DocumentLocks;
import org.forelock.search.FakeLocks;
import org.forelock.search.Guard;
import org.forelock.search.Headers;
import org.forelock.search.HeldRequest;
import org.forelock.search.HeldRequests;
import org.forelock.search.Names;
import org.forelock.search.Shard;
import org.forelock.search.Stats;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.opensearch.OpenSearchException;
import org.opensearch.Version;
import org.opensearch.action.bulk.BulkItemRequest;
import org.opensearch.action.bulk.BulkShardRequest;
import org.opensearch.action.support.WriteRequest.RefreshPolicy;
import org.opensearch.cluster.ClusterState;
import org.opensearch.cluster.metadata.IndexMetadata;
import org.opensearch.common.settings.Settings;
import org.opensearch.common.util.concurrent.ThreadContext;
import org.opensearch.common.util.concurrent.ThreadContext.StoredContext;
import org.opensearch.core.index.shard.ShardId;
import org.opensearch.core.transport.TransportResponse;
import org.opensearch.index.IndexSettings;
import org.opensearch.threadpool.ThreadPool;
import org.opensearch.transport.Transport;
import org.opensearch.transport.TransportChannel;
import org.opensearch.transport.TransportInterceptor.AsyncSender;
import org.opensearch.transport.TransportRequest;
import org.opensearch.transport.TransportRequestHandler;
import org.opensearch.transport.TransportRequestOptions;
import org.opensearch.transport.TransportResponseHandler;

class PrimaryCheckTest {
  private static final String ON_PRIMARY = "indices:data/write/bulk[s][p]";
  private static final ShardId SHARD = new ShardId("articles", "uuid", 0);

  private final ThreadPool threads = new ThreadPool(Settings.builder().put("node.name", "test").build());
  private final ThreadContext context = threads.getThreadContext();
  private final HeldRequests requests = TestSettings.unbounded();
  private final PlainShards plain = new PlainShards();
  /** Of an index that has fencing. */
  private final PrimaryCheck check = new PrimaryCheck(
      requests, new Stats(), threads, plain::has, () -> ClusterState.EMPTY_STATE, () -> false);
  private final List<Boolean> certain = new ArrayList<>();
  private final List<Object> answers = new ArrayList<>();
  /** What the writes that have begun on the primary have got. */
  private final List<Certainty> begun = new ArrayList<>();
  private final List<TransportChannel> channels = new ArrayList<>();
  private final List<LongConsumer> questions = new ArrayList<>();

  PrimaryCheckTest() {
    check.use(new CertaintySource() {
      @Override
      public boolean isLocal(Guard guard) {
        return guard.node.equals("local");
      }

      @Override
      public void ask(Guard guard, Shard shard, LongConsumer answer) {
        questions.add(answer);
      }
    });
  }

  @AfterEach
  void end() {
    ThreadPool.terminate(threads, 10, TimeUnit.SECONDS);
  }

  private void write(Runnable onPrimary) throws Exception {
    TransportRequestHandler<TransportRequest> handler = check.interceptHandler(ON_PRIMARY, "write",
        false, (request, channel, task) -> {
          Certainty one = context.getTransient(Certainty.KEY);
          certain.add(one.certain());
          onPrimary.run();
        });
    try (StoredContext ignored = Carrier.with(context, Headers.GUARD, Guard.allowed("").text())) {
      handler.messageReceived(new TransportRequest.Empty(), null, null);
    }
  }

  @Test
  void aWriteThatAnotherOneCausesHasACertaintyOfItsOwn() throws Exception {
    write(() -> {
      try {
        write(() -> { });
      } catch (Exception problem) {
        throw new AssertionError(problem);
      }
      Certainty outer = context.getTransient(Certainty.KEY);
      certain.add(outer.certain());
    });
    assertEquals(List.of(true, true, true), certain);
  }

  @Test
  void whatAnotherOneCausesWithoutALockSeesNoCertainty() throws Exception {
    List<Object> seen = new ArrayList<>();
    write(() -> {
      try (StoredContext ignored = Carrier.without(context, List.of(Headers.GUARD))) {
        check.<TransportRequest>interceptHandler(ON_PRIMARY, "write", false,
            (request, channel, task) -> seen.add(context.getTransient(Certainty.KEY)))
            .messageReceived(new TransportRequest.Empty(), null, null);
      } catch (Exception problem) {
        throw new AssertionError(problem);
      }
    });
    assertEquals(Collections.singletonList(null), seen);
  }

  private final class Channel implements TransportChannel {
    @Override
    public String getProfileName() {
      return "";
    }

    @Override
    public String getChannelType() {
      return "transport";
    }

    @Override
    public void sendResponse(TransportResponse response) {
      answers.add(response);
    }

    @Override
    public void sendResponse(Exception problem) {
      answers.add(problem);
    }
  }

  private static BulkShardRequest request(ShardId shard) {
    return new BulkShardRequest(shard, RefreshPolicy.NONE, new BulkItemRequest[0]);
  }

  /** A write under locks of another node arrives, and that node says that they are certain for long. */
  private void arrive(long ticket, int attempt, ShardId shard) throws Exception {
    TransportRequestHandler<TransportRequest> handler =
        check.interceptHandler(ON_PRIMARY, ThreadPool.Names.SAME, false, (request, channel, task) -> {
          begun.add(context.getTransient(Certainty.KEY));
          channels.add(channel);
        });
    Guard guard = new Guard("other", ticket, 1, "").withAttempt(attempt);
    try (StoredContext ignored = Carrier.with(context, Headers.GUARD, guard.text())) {
      handler.messageReceived(request(shard), new Channel(), null);
    }
    questions.remove(0).accept(TimeUnit.HOURS.toNanos(1));
  }

  private List<Boolean> certainties() {
    return begun.stream().map(Certainty::certain).toList();
  }

  @Test
  void anotherAttemptAtAWriteEndsTheOneBefore() throws Exception {
    arrive(7, 1, SHARD);
    arrive(8, 1, SHARD);
    arrive(7, 1, new ShardId("articles", "uuid", 1));
    assertEquals(List.of(true, true, true), certainties(), "other writes");
    arrive(7, 2, SHARD);
    assertEquals(List.of(false, true, true, true), certainties());
    arrive(7, 2, SHARD);
    assertEquals(List.of(false, true, true, false, true), certainties(), "sent again by a node in between");
  }

  @Test
  void anEarlierAttemptThatComesLaterDoesNotBegin() throws Exception {
    arrive(7, 2, SHARD);
    arrive(7, 1, SHARD);
    assertEquals(List.of(true), certainties());
    assertTrue(answers.get(0) instanceof Exception, answers.toString());
  }

  @Test
  void anAttemptIsForgottenWhenItIsAnswered() throws Exception {
    arrive(7, 1, SHARD);
    arrive(7, 2, SHARD);
    channels.get(0).sendResponse(new IllegalStateException());
    assertEquals(1, check.attempts(), "it was not the latest");
    channels.get(1).sendResponse(TransportResponse.Empty.INSTANCE);
    assertEquals(0, check.attempts());
    assertEquals(2, answers.size());
  }

  @Test
  void whatANodeInBetweenSendsAgainIsMarked() throws Exception {
    List<Boolean> again = new ArrayList<>();
    AsyncSender sender = check.interceptSender(new AsyncSender() {
      @Override
      public <T extends TransportResponse> void sendRequest(Transport.Connection connection, String action,
          TransportRequest request, TransportRequestOptions options, TransportResponseHandler<T> handler) {
        again.add(Guard.parse(Carrier.get(context, Headers.GUARD)).again);
      }
    });
    TransportRequestHandler<TransportRequest> handler = check.interceptHandler("indices:data/write/bulk[s]",
        ThreadPool.Names.SAME, false, (request, channel, task) -> {
          sender.sendRequest(null, ON_PRIMARY, request, null, null);
          sender.sendRequest(null, "indices:data/write/bulk[s]", request, null, null);
        });
    for (int i = 0; i < 2; ++i) {
      try (StoredContext ignored = Carrier.with(context, Headers.GUARD, new Guard("other", 7, 1, "").text())) {
        handler.messageReceived(request(SHARD), new Channel(), null);
      }
    }
    assertEquals(List.of(false, true, false, true), again, "each that arrives begins anew");
  }

  @Test
  void aRefusalOfAnotherAttemptDoesNotSayThatNothingWasWritten() throws Exception {
    TransportRequestHandler<TransportRequest> handler = check.interceptHandler(ON_PRIMARY, ThreadPool.Names.SAME, false,
        (request, channel, task) -> begun.add(context.getTransient(Certainty.KEY)));
    for (Guard guard : List.of(new Guard("other", 7, 1, ""), new Guard("other", 7, 1, "").sentAgain())) {
      try (StoredContext ignored = Carrier.with(context, Headers.GUARD, guard.text())) {
        handler.messageReceived(request(SHARD), new Channel(), null);
        questions.remove(0).accept(0);
        questions.clear(); // it has asked again
        handler.messageReceived(request(SHARD), new Channel(), null);
        questions.remove(0).accept(TimeUnit.HOURS.toNanos(1));
      }
    }
    assertEquals(List.of("lock_unhealthy", "outcome_unknown"), answers.stream()
        .map(one -> ((OpenSearchException) one).getMetadata("opensearch.forelock_code").get(0)).toList());
    assertEquals(List.of(false, true), begun.stream().map(Certainty::again).toList(), "the engine is told, too");
  }

  private static IndexSettings index(boolean fencing, boolean system) {
    return new IndexSettings(IndexMetadata.builder("articles").system(system).settings(Settings.builder()
        .put(IndexMetadata.SETTING_VERSION_CREATED, Version.CURRENT).put(IndexMetadata.SETTING_NUMBER_OF_SHARDS, 1)
        .put(IndexMetadata.SETTING_NUMBER_OF_REPLICAS, 0).put("index.forelock.enabled", true)
        .put("index.forelock.fencing", fencing)).build(), Settings.EMPTY);
  }

  /** Its documents are written by an engine that knows of no locks: the look before it begins is the last one. */
  @Test
  void aBulkWithoutFencingIsRefusedWhenItBeginsAndNotAtADocument() throws Exception {
    TransportRequestHandler<TransportRequest> handler = check.interceptHandler(ON_PRIMARY, ThreadPool.Names.SAME, false,
        (request, channel, task) -> begun.add(context.getTransient(Certainty.KEY)));
    try (StoredContext ignored = Carrier.with(context, Headers.GUARD, new Guard("other", 7, 1, "").text())) {
      handler.messageReceived(request(SHARD), new Channel(), null);
      questions.remove(0).accept(0);
    }
    assertEquals(List.of(), begun);
    assertEquals(List.of("lock_unhealthy"),
        ((OpenSearchException) answers.get(0)).getMetadata("opensearch.forelock_code"));
    ForelockPlugin plugin = new ForelockPlugin(Settings.EMPTY);
    IndexSettings unfenced = index(false, false);
    assertEquals(Optional.empty(), plugin.getEngineFactory(unfenced), "OpenSearch's own");
    assertTrue(plugin.hasEngine(index(true, false)));
    assertFalse(plugin.hasEngine(index(true, true)), "no lock is taken for a system index");
    Settings without = Settings.builder().put("forelock.engine.enabled", false).build();
    assertFalse(new ForelockPlugin(without).hasEngine(index(true, false)));
  }

  private void opens(boolean guarded) {
    PlainShards.Listener opened = plain.listener(index -> guarded);
    opened.opened(null);
    opened.beforeIndexShardCreated(SHARD, Settings.EMPTY);
  }

  /** It gets the setting behind the back of its engine, which would write without a token. */
  @Test
  void anIndexWithFencingThatWasOpenedWithoutItIsNotWritten() throws Exception {
    opens(false);
    TransportRequestHandler<TransportRequest> handler = check.interceptHandler(ON_PRIMARY, ThreadPool.Names.SAME, false,
        (request, channel, task) -> begun.add(context.getTransient(Certainty.KEY)));
    try (StoredContext ignored = Carrier.with(context, Headers.GUARD, new Guard("other", 7, 1, "").text())) {
      handler.messageReceived(request(SHARD), new Channel(), null);
    }
    String message = ((IllegalArgumentException) answers.get(0)).getMessage();
    assertTrue(message.contains("closed and opened again; nothing was written"), message);
    assertEquals(List.of(), begun);
    assertTrue(questions.isEmpty());
    plain.listener(index -> false).afterIndexShardClosed(SHARD, null, Settings.EMPTY);
    arrive(7, 1, SHARD);
    opens(false);
    opens(true);
    arrive(8, 1, SHARD);
    assertEquals(2, begun.size());
  }

  @Test
  void theNodeOfTheLocksNumbersTheAttempts() {
    DocumentLocks locks =
        new DocumentLocks(new FakeLocks(), "test", List.of("m"), LockType.FOREGROUND, false, System::nanoTime);
    HeldRequest held = new HeldRequest(requests.nextTicket(), null, "test", LockType.FOREGROUND, locks, 1, 0, a -> {});
    requests.admit(held);
    locks.acquire(0, problem -> {}, problem -> {});
    requests.run(held);
    List<String> sent = new ArrayList<>();
    AsyncSender sender = check.interceptSender(new AsyncSender() {
      @Override
      public <T extends TransportResponse> void sendRequest(Transport.Connection connection, String action,
          TransportRequest request, TransportRequestOptions options, TransportResponseHandler<T> handler) {
        sent.add(Carrier.get(context, Headers.GUARD));
      }
    });
    for (String node : List.of("local", "other")) {
      try (StoredContext ignored =
          Carrier.with(context, Headers.GUARD, new Guard(node, held.ticket, 1, "").text())) {
        for (String action : List.of("indices:data/write/bulk[s]", "indices:data/write/bulk[s]", ON_PRIMARY)) {
          sender.sendRequest(null, action, request(SHARD), null, null);
        }
      }
    }
    assertEquals(List.of(1, 2, 0, 0, 0, 0), sent.stream().map(text -> Guard.parse(text).attempt).toList());
    assertEquals(List.of(false, true, true, false, false, false),
        sent.stream().map(text -> Guard.parse(text).again).toList(), "one to this node's own primary counts");
    assertTrue(held.sentAgain());
    assertEquals(0, held.promise(Shards.of(SHARD), 1), "of the first one nobody waits for the answer any more");
    assertTrue(held.promise(Shards.of(SHARD), 2) > 0);
    assertFalse(requests.all().isEmpty());
  }
}
