package org.forelock.opensearch;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.NumericDocValues;
import org.apache.lucene.search.DocIdSetIterator;
import org.forelock.ForelockException;
import org.forelock.LockType;
import org.forelock.search.DocumentLock;
import org.forelock.search.Fence;
import org.forelock.search.NodeLog;
import org.forelock.search.Refusals;
import org.opensearch.action.ActionType;
import org.opensearch.action.admin.indices.settings.put.UpdateSettingsAction;
import org.opensearch.action.admin.indices.settings.put.UpdateSettingsRequest;
import org.opensearch.action.support.ActionFilters;
import org.opensearch.action.support.HandledTransportAction;
import org.opensearch.cluster.metadata.IndexMetadata;
import org.opensearch.cluster.service.ClusterService;
import org.opensearch.common.inject.Inject;
import org.opensearch.common.settings.Settings;
import org.opensearch.common.unit.TimeValue;
import org.opensearch.common.util.concurrent.ThreadContext.StoredContext;
import org.opensearch.common.util.concurrent.ThreadContext;
import org.opensearch.core.action.ActionListener;
import org.opensearch.core.index.Index;
import org.opensearch.index.IndexNotFoundException;
import org.opensearch.index.IndexService;
import org.opensearch.index.engine.Engine;
import org.opensearch.index.mapper.VersionFieldMapper;
import org.opensearch.index.shard.IndexShard;
import org.opensearch.indices.IndicesService;
import org.opensearch.tasks.Task;
import org.opensearch.threadpool.ThreadPool;
import org.opensearch.transport.TransportService;

/**
 * Lets fencing continue in an index whose versions are above the tokens of this ZooKeeper, because one of the two was
 * restored or created anew: the index gets a {@link Fence}.
 */
final class Refence {
  static final String INDEX = "index";
  /** Does it. */
  static final ActionType<Reply> ACTION = Wire.action("cluster:admin/forelock/refence");
  /** The highest version of an index's documents, of the primaries on each node. */
  private static final String HIGHEST = "internal:plugin/forelock/highest";

  private static final String VERSION = "version";
  private static final String SHARDS = "shards";
  private static final String UUID = "uuid";
  private static final long TIMEOUT_MILLIS = 10_000;
  /** All versions of an index are read. */
  private static final TimeValue NO_TIMEOUT = null;

  private Refence() {}

  /** On the node that is asked. */
  public static final class Act extends HandledTransportAction<Message, Reply> {
    private final ClusterService cluster;
    private final ThreadPool threads;
    private final ThreadContext context;
    private final Parts parts;

    /**
     * Called by the node.
     *
     * @param threads the node's threads
     * @param cluster what the node knows of the cluster
     * @param transport between nodes
     * @param filters of actions
     * @param parts the plugin's own
     */
    @Inject
    public Act(
        ThreadPool threads, ClusterService cluster, TransportService transport, ActionFilters filters, Parts parts) {
      super(ACTION.name(), transport, filters, Message::new);
      this.cluster = cluster;
      this.threads = threads;
      this.context = threads.getThreadContext();
      this.parts = parts;
    }

    @Override
    protected void doExecute(Task task, Message message, ActionListener<Reply> listener) {
      IndexMetadata index = index((String) message.values.get(INDEX));
      if (!ArchivedSettings.get(OwnSettings.INDEX_FENCING, index.getSettings())) {
        throw new IllegalArgumentException("[" + index.getIndex().getName() + "] has no index.forelock.fencing");
      }
      Course course = new Course(index, listener);
      threads.generic().execute(() -> course.step(course::begin));
    }

    /** Of this one name: what is done has a reason, which is that of one index. */
    private IndexMetadata index(String name) {
      IndexMetadata index = cluster.state().metadata().index(name);
      if (index == null) {
        throw new IndexNotFoundException(name);
      }
      return index;
    }

    /** Under a lock, so that two of them do not come between each other, and for its token. */
    private final class Course {
      private final IndexMetadata index;
      private final String name;
      private final ActionListener<Reply> listener;
      private final Supplier<StoredContext> caller = context.newRestorableContext(true);
      private String namespace;
      private DocumentLock lock;

      Course(IndexMetadata index, ActionListener<Reply> listener) {
        this.index = index;
        this.name = index.getIndex().getName();
        this.listener = listener;
      }

      /** On a thread that may wait. */
      void begin() {
        parts.identity.check();
        namespace = parts.locks.identity(); // what is remembered may be that of a ZooKeeper which was made anew
        if (namespace.isEmpty()) {
          throw Refusals.of(Refusals.UNAVAILABLE, "connection_loss", "",
              "this node has no connection to ZooKeeper; nothing was done");
        }
        lock = parts.locks.lock(
            "refence " + name, List.of("forelock-refence/" + name), LockType.FOREGROUND, true);
        lock.acquire(TIMEOUT_MILLIS).whenComplete((nothing, failure) -> {
          Throwable problem = failure instanceof CompletionException ? failure.getCause() : failure;
          if (problem != null) {
            end(null, problem instanceof ForelockException ? Refusals.notObtained((ForelockException) problem)
                : new IllegalStateException(problem));
          } else {
            step(this::look);
          }
        });
      }

      /** On the node's own account: whoever may do this needs no other permission. */
      private void step(Runnable step) {
        try (StoredContext ignored = context.stashContext()) {
          step.run();
        } catch (RuntimeException problem) {
          end(null, problem);
        }
      }

      private void look() {
        parts.askAll(HIGHEST, Map.of(INDEX, name, UUID, index.getIndexUUID()), NO_TIMEOUT,
            answers -> step(() -> found(answers)));
      }

      private void found(Peers.Answered answers) {
        int shards = 0;
        long highest = 0;
        for (Map<String, Object> node : answers.nodes.values()) {
          shards += (int) node.get(SHARDS);
          highest = Math.max(highest, (long) node.get(VERSION));
        }
        if (shards != index.getNumberOfShards()) {
          throw Refusals.of(Refusals.UNAVAILABLE, "unavailable", "", "of the " + index.getNumberOfShards()
              + " primaries of [" + name + "] " + shards + " have told their highest version " + answers.problems
              + "; nothing was done. Try again when the index is yellow or green");
        }
        Fence now = ArchivedSettings.get(OwnSettings.INDEX_FENCE, index(name).getSettings());
        Fence next = now.above(namespace, lock.token(), highest);
        Map<String, Object> told = new LinkedHashMap<>();
        told.put(INDEX, name);
        told.put("refenced", !next.equals(now));
        told.put("namespace", namespace);
        told.put("highest_version", Long.toString(highest)); // as text, as tokens are
        told.put("next_version", Long.toString(next.version(namespace, lock.token()) + 1));
        if (next.equals(now)) {
          end(told, null);
          return;
        }
        Settings fence = Settings.builder().put(OwnSettings.INDEX_FENCE.getKey(), next.text()).build();
        parts.actions.execute(UpdateSettingsAction.INSTANCE, new UpdateSettingsRequest(fence, name),
            ActionListener.wrap(done -> {
              new NodeLog().log(Level.WARNING, "the index [" + name + "] was refenced: its versions are up to "
                  + told.get("highest_version") + ", and those of the ZooKeeper namespace " + namespace
                  + " go on at " + told.get("next_version") + "; before, index.forelock.fence was '" + now.text()
                  + "'");
              end(told, null);
            }, problem -> end(null, problem)));
      }

      private void end(Map<String, Object> told, Exception problem) {
        if (lock != null) {
          lock.close();
        }
        try (StoredContext ignored = caller.get()) {
          if (problem == null) {
            listener.onResponse(new Reply(told));
          } else {
            listener.onFailure(Answers.of(problem));
          }
        }
      }
    }
  }

  /** Answers what it asks on each node. */
  static void serve(Peers peers, IndicesService indices) {
    peers.serveBlocking(HIGHEST, (question, reply) -> {
      IndexService index =
          indices.indexService(new Index((String) question.get(INDEX), (String) question.get(UUID)));
      long highest = 0;
      int shards = 0;
      for (IndexShard shard : index == null ? List.<IndexShard>of() : index) {
        if (shard.routingEntry().primary() && shard.routingEntry().active()) {
          highest = Math.max(highest, of(shard));
          ++shards;
        }
      }
      reply.accept(Map.of(VERSION, highest, SHARDS, shards));
    });
  }

  /** Deleted ones, too, as far as they are kept: what a version stands in is not asked whether its document lives. */
  private static long of(IndexShard shard) {
    shard.refresh("forelock");
    long highest = 0;
    try (Engine.Searcher searcher = shard.acquireSearcher("forelock")) {
      for (LeafReaderContext leaf : searcher.getIndexReader().leaves()) {
        NumericDocValues versions = leaf.reader().getNumericDocValues(VersionFieldMapper.NAME);
        while (versions != null && versions.nextDoc() != DocIdSetIterator.NO_MORE_DOCS) {
          highest = Math.max(highest, versions.longValue());
        }
      }
    } catch (IOException problem) {
      throw new UncheckedIOException(problem);
    }
    return highest;
  }
}
