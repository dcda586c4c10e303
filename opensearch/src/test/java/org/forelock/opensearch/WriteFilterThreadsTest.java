package org.forelock.opensearch;

import org.forelock.LockType;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.forelock.ErrorCode;
import org.forelock.search.DocumentLock;
import org.forelock.search.FakeLocks;
import org.forelock.search.HeldRequests;
import org.forelock.search.LockSource;
import org.forelock.search.NodeIdentity;
import org.forelock.search.NodeParts;
import org.forelock.search.Stats;
import org.forelock.search.Timeouts;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.opensearch.OpenSearchSecurityException;
import org.opensearch.Version;
import org.opensearch.action.ActionRequest;
import org.opensearch.action.bulk.BulkItemRequest;
import org.opensearch.action.bulk.BulkItemResponse;
import org.opensearch.action.bulk.BulkShardRequest;
import org.opensearch.action.bulk.BulkShardResponse;
import org.opensearch.action.index.IndexRequest;
import org.opensearch.action.support.WriteRequest.RefreshPolicy;
import org.opensearch.cluster.ClusterName;
import org.opensearch.cluster.ClusterState;
import org.opensearch.cluster.metadata.IndexMetadata;
import org.opensearch.cluster.metadata.Metadata;
import org.opensearch.cluster.node.DiscoveryNode;
import org.opensearch.cluster.node.DiscoveryNodes;
import org.opensearch.cluster.service.ClusterService;
import org.opensearch.common.settings.ClusterSettings;
import org.opensearch.common.settings.Settings;
import org.opensearch.common.util.concurrent.ThreadContext;
import org.opensearch.core.action.ActionListener;
import org.opensearch.core.action.ActionResponse;
import org.opensearch.core.common.transport.TransportAddress;
import org.opensearch.core.index.shard.ShardId;
import org.opensearch.core.rest.RestStatus;
import org.opensearch.threadpool.ThreadPool;

/** On which threads a write goes on. */
class WriteFilterThreadsTest {
  private static final String SHARD_BULK = "indices:data/write/bulk[s]";

  private final ThreadPool threads = new ThreadPool(Settings.builder().put("node.name", "test").build());
  private final ThreadContext context = threads.getThreadContext();
  private final FakeLocks locks = new FakeLocks();
  /** What is to be done on a write thread. */
  private final Deque<Runnable> handedOver = new ArrayDeque<>();
  private final Workers workers = new Workers(threads) {
    @Override
    public void write(Runnable task, Consumer<Exception> failed) {
      handedOver.add(task);
    }
  };
  private final HeldRequests requests = TestSettings.unbounded();
  /** Whether another thread tells of a grant, while the one that asks is still at it. */
  private boolean toldByAnother;
  private final List<ActionListener<Object>> asked = new ArrayList<>();
  private WriteFilter filter = filter(false);
  private final List<ActionListener<ActionResponse>> written = new ArrayList<>();
  private final List<ActionResponse> answers = new ArrayList<>();
  private final List<Exception> problems = new ArrayList<>();
  private Error thrown;

  @AfterEach
  void end() {
    threads.shutdownNow();
  }

  private WriteFilter filter(boolean restricted) {
    return filter(restricted, "document");
  }

  /** On a node with the guarded index "i". */
  private WriteFilter filter(boolean restricted, String monitor) {
    Settings index = Settings.builder().put(IndexMetadata.SETTING_VERSION_CREATED, Version.CURRENT)
        .put(IndexMetadata.SETTING_NUMBER_OF_SHARDS, 1).put(IndexMetadata.SETTING_NUMBER_OF_REPLICAS, 0)
        .put("index.forelock.enabled", true).put("index.forelock.monitor", monitor).build();
    DiscoveryNode node =
        new DiscoveryNode("node", new TransportAddress(InetAddress.getLoopbackAddress(), 9300), Version.CURRENT);
    ClusterState state = ClusterState.builder(ClusterName.DEFAULT)
        .nodes(DiscoveryNodes.builder().add(node).localNodeId("node"))
        .metadata(Metadata.builder().put(IndexMetadata.builder("i").settings(index))).build();
    ClusterService cluster = new ClusterService(Settings.EMPTY,
        new ClusterSettings(Settings.EMPTY, ClusterSettings.BUILT_IN_CLUSTER_SETTINGS), threads);
    cluster.getClusterApplierService().setInitialState(state);
    ForelockSettings settings =
        TestSettings.of(Settings.builder().put("forelock.foreground.restricted", restricted).build());
    WritePlanner planner = new WritePlanner(cluster, null, context, requests, null);
    LockSource source = (info, monitors, type, fenced, kept) -> {
      DocumentLock lock = locks.lock(info, monitors, type, fenced, kept);
      return toldByAnother ? new ToldByAnother(lock) : lock;
    };
    NodeParts parts = new NodeParts(settings, requests, source, new Timeouts(settings, 60_000, 60_000), null, null,
        new Stats(), null, workers, () -> "node", new NodeIdentity(
            () -> "", (millis, task) -> {}, (level, text) -> {}));
    return new WriteFilter(settings, planner, parts, workers, context, new LateWrites(null, context, null), null,
        new ForegroundPermit<Object>(settings, listener -> asked.add(listener)));
  }

  private static final class ToldByAnother implements DocumentLock {
    private final DocumentLock lock;

    ToldByAnother(DocumentLock lock) {
      this.lock = lock;
    }

    @Override
    public CompletableFuture<?> acquire(long timeoutMillis) {
      CompletableFuture<?> granted = lock.acquire(timeoutMillis);
      return new CompletableFuture<Object>() {
        @Override
        public CompletableFuture<Object> whenComplete(BiConsumer<? super Object, ? super Throwable> action) {
          CompletableFuture<Object> result = super.whenComplete(action);
          CompletableFuture.runAsync(() -> complete(granted.join())).join();
          return result;
        }
      };
    }

    @Override
    public CompletableFuture<?> tryAcquire() {
      return lock.tryAcquire();
    }

    @Override
    public boolean prioritize(LockType type) {
      return lock.prioritize(type);
    }

    @Override
    public long nanosLeft() {
      return lock.nanosLeft();
    }

    @Override
    public long token() {
      return lock.token();
    }

    @Override
    public Map<String, Long> tokens() {
      return lock.tokens();
    }

    @Override
    public String heldHeader() {
      return lock.heldHeader();
    }

    @Override
    public void close() {
      lock.close();
    }
  }

  private void write() {
    write("1");
  }

  private void write(String id) {
    IndexRequest write = new IndexRequest("i").id(id).source(Map.of("n", 1));
    BulkShardRequest part = new BulkShardRequest(new ShardId("i", "uuid", 0), RefreshPolicy.NONE,
        new BulkItemRequest[] {new BulkItemRequest(0, write)});
    filter.<ActionRequest, ActionResponse>apply(null, SHARD_BULK, part,
        ActionListener.wrap(answers::add, problems::add), (task, action, request, listener) -> {
          written.add(listener);
          if (thrown != null) {
            throw thrown;
          }
        });
  }

  private void answer() {
    written.get(0).onResponse(new BulkShardResponse(new ShardId("i", "uuid", 0), new BulkItemResponse[0]));
    assertEquals(1, answers.size());
    assertEquals(List.of(), problems);
    assertTrue(requests.all().isEmpty());
    assertTrue(locks.owners.isEmpty());
  }

  @Test
  void whereTheLockIsThereAtOnceTheCallersGoesOn() {
    write();
    assertEquals(1, written.size());
    assertTrue(handedOver.isEmpty());
    assertEquals(List.of("+i/1"), locks.journal, "and holds the lock");
    answer();
  }

  @Test
  void whereItIsWaitedForAWriteThreadGoesOn() {
    locks.others("i/1");
    write();
    assertTrue(handedOver.isEmpty());
    locks.release("i/1");
    assertTrue(written.isEmpty(), "not the thread that tells of the grant, which may even be the caller's");
    handedOver.remove().run();
    assertEquals(1, written.size());
    answer();
  }

  @Test
  void whereAnotherThreadTellsOfTheGrantMeanwhileAWriteThreadGoesOn() {
    toldByAnother = true;
    write();
    assertTrue(written.isEmpty());
    handedOver.remove().run();
    assertEquals(1, written.size());
    answer();
  }

  @Test
  void whereItIsRestrictedWhoIsNotPermittedIsInTheBackground() {
    filter = filter(true);
    locks.others("i/1");
    write();
    assertTrue(requests.all().isEmpty(), "it is asked first");
    asked.remove(0).onFailure(new OpenSearchSecurityException("no permissions", RestStatus.FORBIDDEN));
    assertEquals(List.of(LockType.BACKGROUND), requests.all().stream().map(held -> held.type).toList());
    write();
    asked.remove(0).onResponse(new Object());
    assertEquals(List.of(LockType.BACKGROUND, LockType.FOREGROUND),
        requests.all().stream().map(held -> held.type).sorted(Comparator.reverseOrder()).toList());
  }

  /** Clients make up what they like, such as the names of buckets. */
  @Test
  void theRuleOfTheIndexSaysWhetherAMonitorStays() {
    filter = filter(false, "id");
    write("i/~0");
    assertEquals(List.of("+i/~0"), locks.journal);
    assertEquals(Set.of(), locks.keptMonitors);
    filter = filter(true, "bucket:1");
    locks.release("i/~0");
    write("7");
    asked.remove(0).onFailure(new OpenSearchSecurityException("no permissions", RestStatus.FORBIDDEN));
    assertEquals(Set.of("i/~0"), locks.keptMonitors, "in the background, too");
  }

  @Test
  void whatSecurityAnswersOnAnotherThreadGoesOnOnAWriteThread() {
    filter = filter(true);
    write();
    CompletableFuture.runAsync(() -> asked.remove(0).onResponse(new Object())).join();
    assertTrue(written.isEmpty());
    handedOver.remove().run();
    answer();
  }

  @Test
  void aPermissionThatIsNotKnownFailsTheWrite() {
    filter = filter(true);
    write();
    asked.remove(0).onFailure(new IllegalStateException("the node is closing"));
    assertEquals(1, problems.size());
    assertTrue(written.isEmpty());
    assertTrue(requests.all().isEmpty());
  }

  /** Whoever else may go on under the locks is not robbed of them. */
  @Test
  void whatGoesWrongBehindTheLocksDoesNotGiveThemBack() {
    thrown = new StackOverflowError();
    assertThrows(StackOverflowError.class, this::write);
    assertEquals(1, locks.owners.size());
  }

  @Test
  void whatIsRefusedAtOnceIsAnsweredByTheCallers() {
    locks.failure = ErrorCode.CONNECTION_LOSS;
    write();
    assertTrue(written.isEmpty());
    assertTrue(handedOver.isEmpty());
    assertEquals(1, problems.size());
    assertTrue(requests.all().isEmpty());
  }
}
