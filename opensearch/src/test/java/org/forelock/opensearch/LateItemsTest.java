package org.forelock.opensearch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.forelock.ErrorCode;
import org.forelock.FailedAttempt;
import org.forelock.ForelockException;
import org.forelock.LockType;
import org.forelock.TestFailures;
import org.forelock.search.DocumentLocks;
import org.forelock.search.DocumentTokens;
import org.forelock.search.FakeLocks;
import org.forelock.search.Guard;
import org.forelock.search.Headers;
import org.forelock.search.HeldRequest;
import org.forelock.search.HeldRequests;
import org.forelock.search.HeldRequests.Admission;
import org.forelock.search.Letters;
import org.forelock.search.Refusals;
import org.forelock.search.Stats;
import org.forelock.search.WritePlan;
import org.junit.jupiter.api.Test;
import org.opensearch.OpenSearchException;
import org.opensearch.Version;
import org.opensearch.action.DocWriteRequest;
import org.opensearch.action.bulk.BulkItemRequest;
import org.opensearch.action.bulk.BulkItemResponse;
import org.opensearch.action.bulk.BulkShardRequest;
import org.opensearch.action.bulk.BulkShardResponse;
import org.opensearch.action.index.IndexRequest;
import org.opensearch.action.index.IndexResponse;
import org.opensearch.action.support.WriteRequest.RefreshPolicy;
import org.opensearch.action.support.replication.ReplicationResponse.ShardInfo;
import org.opensearch.cluster.node.DiscoveryNode;
import org.opensearch.common.settings.Settings;
import org.opensearch.common.util.concurrent.ThreadContext;
import org.opensearch.common.xcontent.XContentType;
import org.opensearch.core.action.ActionListener;
import org.opensearch.core.common.transport.TransportAddress;
import org.opensearch.core.index.shard.ShardId;
import org.opensearch.core.rest.RestStatus;
import org.opensearch.index.IndexNotFoundException;
import org.opensearch.tasks.Task;
import org.opensearch.transport.NodeDisconnectedException;
import org.opensearch.transport.RemoteTransportException;

class LateItemsTest {
  private static final ShardId SHARD = new ShardId("articles", "uuid", 0);
  /** Of the whole request. */
  private static final long BYTES = 100_000;

  private final FakeLocks source = new FakeLocks();
  private final Stats stats = new Stats();
  private final ThreadContext context = new ThreadContext(Settings.EMPTY);
  private final HeldRequests requests = requests();
  private final List<Runnable> pauses = new ArrayList<>();
  private final List<String> written = new ArrayList<>();
  private final List<String> guards = new ArrayList<>();
  /** The bytes that are held while items are written. */
  private final List<Long> heldMeanwhile = new ArrayList<>();
  private Runnable whileWriting = () -> {};
  private final List<String> queued = new ArrayList<>();
  private final List<String> letters = new ArrayList<>();
  private final List<List<FailedAttempt>> failures = new ArrayList<>();
  private final Set<String> full = new HashSet<>();
  private final List<DocWriteRequest<?>> sent = new ArrayList<>();
  /** What gives locks back that stay for a while. */
  private final List<Runnable> later = new ArrayList<>();
  /** Whether the primary's node asks for the locks. */
  private boolean promising;
  private boolean broken;
  private boolean slow;
  private boolean failing;
  private LateItems items;
  private Exception refusal;
  /** What becomes of a whole attempt; null: it has an answer. */
  private Exception gone;
  private int retries = 2;
  private final BulkShardRequest request;
  private final WritePlan plan;

  LateItemsTest() {
    String[] ids = {"a", "b", "a", "c", "d"};
    BulkItemRequest[] items = new BulkItemRequest[ids.length];
    for (int i = 0; i < ids.length; ++i) {
      items[i] = new BulkItemRequest(10 + i, new IndexRequest("articles").id(ids[i]).source(Map.of("n", i)));
    }
    request = new BulkShardRequest(SHARD, RefreshPolicy.NONE, items);
    plan = new WritePlan(LockType.BACKGROUND, new TreeSet<>(List.of("a", "b", "c", "d")), ids, false, true, "test",
        BYTES, 1000, null, DocumentTokens.NONE);
  }

  private HeldRequests requests() {
    Settings bounds = Settings.builder().put("forelock.background.max_requests", 2).build();
    return new HeldRequests(TestSettings.of(bounds), stats, PrimaryAnswer::is, (millis, task) -> later.add(task));
  }

  private final class Queue implements Letters {
    @Override
    public int retries() {
      return retries;
    }

    @Override
    public String put(String monitor, String info, byte[] payload, List<FailedAttempt> attempts) {
      if (broken) {
        throw new IllegalStateException("broken");
      }
      String text = new String(payload, StandardCharsets.UTF_8);
      if (full.stream().anyMatch(text::contains)) {
        throw TestFailures.of(ErrorCode.OUTBOX_FULL, monitor);
      }
      queued.add(monitor);
      letters.add(text);
      failures.add(List.copyOf(attempts));
      return "letter" + queued.size();
    }
  }

  private final class Direct extends Workers {
    Direct() {
      super(null);
    }

    @Override
    public void write(Runnable task, Consumer<Exception> failed) {
      run(task, failed);
    }

    @Override
    void block(Runnable task, Consumer<Exception> failed) {
      if (slow) {
        pauses.add(() -> run(task, failed));
      } else {
        run(task, failed);
      }
    }

    @Override
    void later(long millis, Runnable task, Consumer<Exception> failed) {
      pauses.add(() -> run(task, failed));
    }

    private void run(Runnable task, Consumer<Exception> failed) {
      try {
        task.run();
      } catch (RuntimeException problem) {
        failed.accept(problem);
      }
    }
  }

  private void write(BulkShardRequest bulk, ActionListener<BulkShardResponse> listener) {
    guards.add(Carrier.get(context, Headers.UPDATE_GUARD));
    if (promising) {
      assertTrue(requests.get(Guard.parse(guards.get(guards.size() - 1)).ticket).promise() > 0);
    }
    assertEquals(request.shardId(), bulk.shardId());
    heldMeanwhile.add(requests.bytes(LockType.BACKGROUND));
    whileWriting.run();
    List<BulkItemResponse> responses = new ArrayList<>();
    for (BulkItemRequest item : bulk.items()) {
      assertFalse(List.of(request.items()).contains(item), "those were left out of the first attempt");
      DocWriteRequest<?> write = item.request();
      sent.add(write);
      written.add(write.id());
      responses.add(refusal == null
          ? new BulkItemResponse(item.id(), write.opType(), new IndexResponse(SHARD, write.id(), 1, 1, 1, true))
          : new BulkItemResponse(item.id(), write.opType(),
              new BulkItemResponse.Failure("articles", write.id(), refusal)));
    }
    BulkShardResponse response = new BulkShardResponse(bulk.shardId(), responses.toArray(new BulkItemResponse[0]));
    response.setShardInfo(new ShardInfo(2, 2));
    if (gone == null) {
      listener.onResponse(response);
    } else {
      listener.onFailure(gone);
    }
  }

  private CompletableFuture<BulkItemResponse[]> late(String... kept) {
    Map<String, ForelockException> reasons = new LinkedHashMap<>();
    for (String monitor : kept) {
      reasons.put(monitor, TestFailures.of(ErrorCode.LOCK_TIMEOUT, monitor));
    }
    return late(reasons);
  }

  private CompletableFuture<BulkItemResponse[]> late(Map<String, ForelockException> reasons) {
    WriteQueue queue = new WriteQueue(
        new Queue(), source, requests, this::write, new Direct(), context, stats, this::node, () -> "6f1e");
    Task task = new Task(7, "transport", "test", "", null, Map.of());
    items = new LateItems(queue, task, "test", request, "stream", plan, 1000, context.newRestorableContext(true),
        reasons, firstAttempt());
    return items.run();
  }

  private HeldRequest held(Set<String> monitors, long bytes) {
    DocumentLocks locks =
        new DocumentLocks(source, "test", monitors, LockType.BACKGROUND, false, System::nanoTime);
    return new HeldRequest(
        requests.nextTicket(), null, "test", LockType.BACKGROUND, locks, bytes, System.nanoTime(), answer -> {});
  }

  private HeldRequest firstAttempt() {
    HeldRequest first = held(plan.monitors, HeldRequest.OWN_BYTES + plan.bytes);
    requests.admit(first);
    requests.runCounted(first);
    requests.endCounted(first, null);
    return first;
  }

  private String node() {
    if (failing) {
      throw new IllegalStateException("broken");
    }
    return "node";
  }

  private void nextAttempt() {
    pauses.remove(0).run();
  }

  private static BulkItemResponse[] now(CompletableFuture<BulkItemResponse[]> answers) {
    assertTrue(answers.isDone());
    return answers.join();
  }

  private static String code(BulkItemResponse item) {
    return ((OpenSearchException) item.getFailure().getCause()).getMetadata("opensearch.forelock_code").get(0);
  }

  @Test
  void whatGetsItsLockIsWrittenUnderIt() {
    CompletableFuture<BulkItemResponse[]> answers = late("a", "c");
    assertEquals(1, requests.count(LockType.BACKGROUND), "held in the pause, too: it can be cancelled");
    nextAttempt();
    BulkItemResponse[] items = now(answers);
    assertEquals(List.of("a", "a", "c"), written);
    assertEquals(Set.of("a", "c"), source.keptMonitors, "as the plan says");
    assertNull(items[1], "another's");
    assertEquals(12, items[2].getItemId());
    assertEquals(RestStatus.CREATED, items[2].status());
    assertEquals("node", Guard.parse(guards.get(0)).node);
    assertNull(Carrier.get(context, Headers.UPDATE_GUARD));
    assertTrue(source.owners.isEmpty(), "given back");
    assertTrue(requests.all().isEmpty());
  }

  @Test
  void whatRunsOutOfRetriesBecomesLettersInOrder() {
    source.others("a");
    CompletableFuture<BulkItemResponse[]> answers = late("a", "c");
    nextAttempt();
    source.expire("a");
    assertEquals(List.of("c"), written, "the free one does not wait");
    nextAttempt();
    source.expire("a");
    BulkItemResponse[] items = now(answers);
    assertEquals(List.of("a", "a"), queued);
    assertEquals(List.of("lock_timeout", "lock_timeout", "lock_timeout"),
        failures.get(0).stream().map(FailedAttempt::code).toList());
    assertEquals(RestStatus.ACCEPTED, items[0].status());
    assertEquals("queued", code(items[0]));
    assertEquals(List.of("letter2"), ((OpenSearchException) items[2].getFailure().getCause())
        .getMetadata("opensearch.forelock_dead_letter"));
    assertEquals(RestStatus.CREATED, items[3].status());
    assertEquals(2, stats.deadLettered.sum());
    assertTrue(requests.all().isEmpty());
  }

  @Test
  void behindOneThatNoQueueTakesNoneOfItsMonitorIsQueued() {
    retries = 0;
    full.add("\\\"n\\\":0"); // the first of "a"
    BulkItemResponse[] items = now(late("a", "b"));
    assertEquals(List.of("b"), queued);
    assertEquals(RestStatus.CONFLICT, items[0].status());
    assertEquals("lock_timeout", code(items[0]));
    assertTrue(items[0].getFailureMessage().contains("in no queue"), items[0].getFailureMessage());
    assertEquals(RestStatus.CONFLICT, items[2].status());
    assertEquals(RestStatus.ACCEPTED, items[1].status());
  }

  @Test
  void aLockThatIsLostIsAnotherFailedAttempt() {
    retries = 1;
    refusal = Answers.of(Refusals.uncertain("b"));
    BulkItemResponse[] items = now(lateAfterOneAttempt("b"));
    assertEquals(List.of("b"), written);
    assertEquals(List.of("b"), queued);
    assertEquals("lock_unhealthy", failures.get(0).get(1).code());
    assertEquals(RestStatus.ACCEPTED, items[1].status());
  }

  @Test
  void aLockThatIsLostOnTheWayIsOneToo() {
    retries = 1;
    gone = new RemoteTransportException("primary", Answers.of(Refusals.uncertain("")));
    BulkItemResponse[] items = now(lateAfterOneAttempt("b"));
    assertEquals("lock_unhealthy", failures.get(0).get(1).code());
    assertEquals(RestStatus.ACCEPTED, items[1].status());
  }

  /** An earlier attempt may have been done. */
  @Test
  void whatMayHaveBeenDoneIsNeitherTriedAgainNorQueued() {
    refusal = Answers.of(Refusals.uncertain("b", true));
    BulkItemResponse[] items = now(lateAfterOneAttempt("b"));
    assertEquals(List.of("b"), written);
    assertEquals(List.of(), queued);
    assertEquals("outcome_unknown", code(items[1]));
    assertEquals(RestStatus.INTERNAL_SERVER_ERROR, items[1].status());
  }

  @Test
  void locksStayWhereItIsNotKnownWhatHasBecomeOfAnItem() {
    DiscoveryNode primary =
        new DiscoveryNode("primary", new TransportAddress(TransportAddress.META_ADDRESS, 1), Version.CURRENT);
    for (Exception problem : List.of(new IllegalArgumentException("no such field"), new RemoteTransportException(
        "node", new NodeDisconnectedException(primary, "write")))) {
      later.clear();
      promising = true;
      refusal = problem;
      now(lateAfterOneAttempt("b"));
      boolean known = problem instanceof IllegalArgumentException;
      assertEquals(known ? 0 : 1, later.size());
      assertEquals(!known, source.owners.containsKey("b"));
      later.forEach(Runnable::run);
      assertTrue(source.owners.isEmpty());
      assertTrue(requests.all().isEmpty());
    }
  }

  @Test
  void whatOpenSearchRefusesIsItsAnswer() {
    refusal = new IllegalArgumentException("no such field");
    BulkItemResponse[] items = now(lateAfterOneAttempt("b"));
    assertEquals(RestStatus.BAD_REQUEST, items[1].status());
    assertEquals(List.of(), queued);
  }

  @Test
  void noZooKeeperIsAFailedAttempt() {
    retries = 1;
    source.failure = ErrorCode.CONNECTION_LOSS;
    now(lateAfterOneAttempt("b"));
    assertEquals("connection_loss", failures.get(0).get(1).code());
    assertEquals(List.of("b"), queued);
  }

  @Test
  void itCanBeCancelledAndEndsWithTheNode() {
    CompletableFuture<BulkItemResponse[]> answers = late("a", "c");
    assertEquals(1, requests.cancel(held -> held.locks.has("a"), "test"));
    assertEquals("cancelled", code(now(answers)[0]));
    nextAttempt();
    assertFalse(source.owners.containsKey("a"));
    CompletableFuture<BulkItemResponse[]> others = late("a");
    requests.close();
    assertEquals("closed", code(now(others)[0]));
    assertEquals("closed", code(now(late("a"))[0]));
    assertEquals(List.of(), queued);
  }

  @Test
  void itIsOfTheClassThatSomebodyHasGivenIt() {
    source.others("a");
    late("a");
    assertEquals(1, requests.prioritize(held -> held.locks.has("a"), LockType.FOREGROUND), "in the pause");
    nextAttempt();
    source.expire("a");
    nextAttempt();
    assertEquals(List.of(LockType.FOREGROUND, LockType.FOREGROUND), source.types, "and stays it");
    assertEquals(1, requests.count(LockType.BACKGROUND), "towards the bounds it counts as before");
    assertEquals(1, requests.prioritize(held -> held.locks.has("a"), LockType.BACKGROUND), "while it waits");
    assertTrue(source.journal.contains("^a BACKGROUND"));
  }

  @Test
  void itsClassIsChangedBetweenTwoAttempts() {
    source.others("b");
    whileWriting = () -> assertEquals(1, requests.prioritize(held -> held.locks.has("b"), LockType.FOREGROUND));
    late("a", "b");
    nextAttempt();
    source.expire("b");
    assertEquals(List.of("a", "a"), written, "and b waits on");
    nextAttempt();
    assertEquals(LockType.FOREGROUND, source.types.get(source.types.size() - 1));
  }

  @Test
  void aDocumentWithoutAnIdIsWrittenUnderTheOneThatItGot() {
    IndexRequest document = (IndexRequest) request.items()[1].request();
    document.id(null);
    document.process(Version.CURRENT, null, "articles");
    document.routing("r");
    BulkItemResponse[] items = now(lateAfterOneAttempt("b"));
    assertEquals(List.of(document.id()), written);
    assertEquals(List.of("r"), sent.stream().map(DocWriteRequest::routing).toList());
    assertEquals(document.id(), items[1].getId());
    assertEquals(2, items[1].getResponse().getShardInfo().getTotal());
  }

  @Test
  void anIndexThatIsNotThereAnyMoreIsTheAnswer() {
    gone = new IndexNotFoundException(SHARD.getIndex());
    BulkItemResponse[] items = now(lateAfterOneAttempt("b"));
    assertEquals(RestStatus.NOT_FOUND, items[1].status());
    assertEquals(List.of(), queued);
    assertTrue(source.owners.isEmpty());
  }

  @Test
  void whatCannotBeWrittenAsALetterIsAnswered() {
    retries = 0;
    byte[] source = "{\"n\":1}?".getBytes(StandardCharsets.UTF_8);
    source[source.length - 1] = (byte) 0xf4;
    ((IndexRequest) request.items()[1].request()).source(source, XContentType.JSON);
    BulkItemResponse[] items = now(late("a", "b"));
    assertEquals(List.of("a", "a"), queued);
    assertEquals(RestStatus.CONFLICT, items[1].status());
    assertTrue(items[1].getFailureMessage().contains("not UTF-8"), items[1].getFailureMessage());
  }

  @Test
  void aQueueThatBreaksIsAnswered() {
    retries = 0;
    broken = true;
    BulkItemResponse[] items = now(late("a", "b"));
    assertEquals(RestStatus.CONFLICT, items[1].status());
    assertTrue(items[1].getFailureMessage().contains("in no queue"), items[1].getFailureMessage());
    assertTrue(requests.all().isEmpty());
  }

  @Test
  void whatWaitsForTheQueueIsHeldAndCanBeCancelled() {
    retries = 0;
    slow = true;
    CompletableFuture<BulkItemResponse[]> answers = late("a");
    assertEquals(1, requests.count(LockType.BACKGROUND));
    assertTrue(requests.bytes(LockType.BACKGROUND) > 0);
    nextAttempt();
    assertEquals(RestStatus.ACCEPTED, now(answers)[0].status());
    assertEquals(0, requests.count(LockType.BACKGROUND));
    assertEquals(0, requests.bytes(LockType.BACKGROUND));
    CompletableFuture<BulkItemResponse[]> others = late("b");
    assertEquals(1, requests.cancel(held -> true, "test"));
    assertEquals("cancelled", code(now(others)[1]));
    nextAttempt();
    assertEquals(List.of("a", "a"), queued);
    assertTrue(requests.all().isEmpty());
  }

  @Test
  void whatComesMeanwhileDoesNotGetThePlaceOfWhatIsTriedAgain() {
    source.others("a");
    CompletableFuture<BulkItemResponse[]> answers = late("a", "c");
    assertEquals(Admission.ADMITTED, requests.admit(held(Set.of("x"), 1)));
    assertEquals(Admission.TOO_MANY, requests.admit(held(Set.of("y"), 1)));
    whileWriting = () -> assertEquals(Admission.TOO_MANY, requests.admit(held(Set.of("y"), 1)));
    nextAttempt();
    source.expire("a");
    assertEquals(List.of("c"), written);
    assertEquals(Admission.TOO_MANY, requests.admit(held(Set.of("y"), 1)));
    nextAttempt();
    source.expire("a");
    assertEquals(List.of("a", "a"), queued);
    assertEquals(RestStatus.ACCEPTED, now(answers)[0].status());
    assertEquals(1, requests.count(LockType.BACKGROUND), "its place is free");
  }

  @Test
  void itCountsAsTheWholeRequestWhichIsKept() {
    CompletableFuture<BulkItemResponse[]> answers = late("a");
    assertEquals(HeldRequest.OWN_BYTES + BYTES, requests.bytes(LockType.BACKGROUND));
    nextAttempt();
    assertEquals(RestStatus.CREATED, now(answers)[0].status());
    assertEquals(List.of(HeldRequest.OWN_BYTES + BYTES), heldMeanwhile);
    assertEquals(0, requests.bytes(LockType.BACKGROUND));
  }

  @Test
  void itEndsWhenTheClientHasGone() {
    CompletableFuture<BulkItemResponse[]> answers = late("a");
    items.cancel(Refusals.cancelled("the client has gone"));
    assertEquals("cancelled", code(now(answers)[0]));
    assertEquals(0, requests.count(LockType.BACKGROUND));
  }

  @Test
  void whatGoesWrongInAnAttemptGivesTheLocksBackAndIsAnswered() {
    CompletableFuture<BulkItemResponse[]> answers = late("b");
    failing = true;
    nextAttempt();
    BulkItemResponse[] items = now(answers);
    assertEquals("broken", items[1].getFailure().getCause().getMessage());
    assertTrue(source.owners.isEmpty(), "given back");
    assertTrue(requests.all().isEmpty());
  }

  @Test
  void manyFailuresStaySmall() {
    retries = 50;
    source.failure = ErrorCode.CONNECTION_LOSS;
    ForelockException wordy = TestFailures.of(ErrorCode.LOCK_TIMEOUT, "é".repeat(2000));
    CompletableFuture<BulkItemResponse[]> answers = late(Map.of("b", wordy));
    for (int i = 0; i < retries; ++i) {
      nextAttempt();
    }
    assertTrue(answers.isDone());
    List<FailedAttempt> all = failures.get(0);
    assertEquals(51, all.size(), "each is counted");
    for (int i = 0; i < all.size(); ++i) {
      int bytes = all.get(i).message().getBytes(StandardCharsets.UTF_8).length;
      boolean told = i == 0 || i >= all.size() - LateItems.LAST_MESSAGES;
      assertEquals(told, bytes > 0, "attempt " + i);
      assertTrue(bytes <= 1000);
    }
  }

  @Test
  void aStreamsLettersNameItForNewDocumentsAlone() {
    retries = 0;
    ((IndexRequest) request.items()[0].request()).create(true);
    ((IndexRequest) request.items()[2].request()).setIfSeqNo(3).setIfPrimaryTerm(1);
    now(late("a"));
    assertTrue(letters.get(0).contains("\"index\":\"stream\""), letters.get(0));
    assertTrue(letters.get(1).contains("\"index\":\"articles\""), letters.get(1));
  }

  private CompletableFuture<BulkItemResponse[]> lateAfterOneAttempt(String monitor) {
    CompletableFuture<BulkItemResponse[]> answers = late(monitor);
    nextAttempt();
    return answers;
  }
}
