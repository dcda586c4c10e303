package org.forelock.opensearch;

import java.io.IOException;
import org.forelock.search.Certainty;
import org.forelock.search.Fence;
import org.forelock.search.Refusals;
import org.forelock.search.Stats;
import org.opensearch.action.index.IndexRequest;
import org.opensearch.common.lucene.uid.Versions;
import org.opensearch.common.util.concurrent.ThreadContext;
import org.opensearch.index.VersionType;
import org.opensearch.index.engine.EngineConfig;
import org.opensearch.index.engine.EngineFactory;
import org.opensearch.index.engine.InternalEngine;
import org.opensearch.index.engine.NRTReplicationEngine;
import org.opensearch.index.engine.VersionConflictEngineException;
import org.opensearch.index.seqno.SequenceNumbers;

/**
 * A GuardedEngine, which indices with {@code index.forelock.fencing} have, refuses a write whose locks are no longer
 * certain at the moment when the primary does it, and makes the lock's token the document's version, also for a created
 * one. The refusal concerns one document, like a version conflict: earlier documents are replicated as usual. (A
 * listener of the shard could not refuse: OpenSearch logs its exceptions and continues.)
 */
final class GuardedEngine extends InternalEngine {
  private final ThreadContext context;
  private final Stats stats;

  private GuardedEngine(EngineConfig config, ThreadContext context, Stats stats) {
    super(config);
    this.context = context;
    this.stats = stats;
  }

  static EngineFactory factory(ThreadContext context, Stats stats) {
    return config -> config.isReadOnlyReplica()
        ? new NRTReplicationEngine(config) : new GuardedEngine(config, context, stats);
  }

  private boolean is(org.opensearch.common.settings.Setting<Boolean> setting) {
    return ArchivedSettings.get(setting, engineConfig.getIndexSettings().getSettings());
  }

  @Override
  public IndexResult index(Index write) throws IOException {
    if (write.origin() != Operation.Origin.PRIMARY || !is(ForelockSettings.INDEX_ENABLED)) {
      return super.index(write);
    }
    Certainty certainty = context.getTransient(Certainty.KEY);
    if (certainty == null) {
      return super.index(write);
    }
    if (!certainty.certain()) {
      stats.refusedOnPrimary.increment();
      return new IndexResult(Answers.of(Refusals.uncertain("", certainty.again())), write.version());
    }
    if (!fenced(certainty, write)) {
      return super.index(write);
    }
    Index raised = withToken(write, version(certainty, write.id()));
    IndexResult result = super.index(raised);
    return isBelow(certainty, raised, write.id(), write.getIfSeqNo(), result)
        ? new IndexResult(Answers.of(Refusals.tokenTooLow(write.id(), raised.version())), write.version()) : result;
  }

  @Override
  public DeleteResult delete(Delete write) throws IOException {
    if (write.origin() != Operation.Origin.PRIMARY || !is(ForelockSettings.INDEX_ENABLED)) {
      return super.delete(write);
    }
    Certainty certainty = context.getTransient(Certainty.KEY);
    if (certainty == null) {
      return super.delete(write);
    }
    if (!certainty.certain()) {
      stats.refusedOnPrimary.increment();
      return new DeleteResult(
          Answers.of(Refusals.uncertain("", certainty.again())), write.version(), write.primaryTerm());
    }
    if (!fenced(certainty, write)) {
      return super.delete(write);
    }
    Delete raised = withToken(write, version(certainty, write.id()));
    DeleteResult result = super.delete(raised);
    return isBelow(certainty, raised, write.id(), write.getIfSeqNo(), result) ? new DeleteResult(
        Answers.of(Refusals.tokenTooLow(write.id(), raised.version())), write.version(), write.primaryTerm()) : result;
  }

  private boolean fenced(Certainty certainty, Operation write) {
    boolean plain = write.version() == Versions.MATCH_ANY || isCreation(write);
    return certainty.token() > 0 && plain && write.versionType() == VersionType.INTERNAL
        && is(OwnSettings.INDEX_FENCING) && !isUnlocked(write);
  }

  private long version(Certainty certainty, String id) {
    Fence fence = ArchivedSettings.get(OwnSettings.INDEX_FENCE, engineConfig.getIndexSettings().getSettings());
    return fence.version(certainty.namespace(), certainty.token(id));
  }

  /**
   * Whether a write was refused for its version while its lock is held: then no later holder has left that. A holder
   * that has lost its lock meanwhile has the plain answer, as the conflict is what it should be.
   */
  private boolean isBelow(Certainty certainty, Operation raised, String id, long ifSeqNo, Result result) {
    if (!(result.getFailure() instanceof VersionConflictEngineException) || !certainty.certain()) {
      return false;
    }
    try (GetResult found = get(new Get(true, false, id, raised.uid()), this::acquireSearcher)) {
      return found.exists() ? !(raised instanceof Creation) && found.version() > raised.version()
          : ifSeqNo == SequenceNumbers.UNASSIGNED_SEQ_NO;
    }
  }

  private static boolean isCreation(Operation write) {
    return write instanceof Index && write.version() == Versions.MATCH_DELETED;
  }

  /** As {@link WritePlanner#isNew}: its id was made up for it, and is what would be locked. */
  private boolean isUnlocked(Operation write) {
    return write instanceof Index && ((Index) write).getAutoGeneratedIdTimestamp() >= 0
        && ArchivedSettings.get(ForelockSettings.INDEX_MONITOR, engineConfig.getIndexSettings().getSettings()).byId();
  }

  private static Index withToken(Index write, long token) {
    return isCreation(write) ? new Creation(write, token) : new WithToken(write, token);
  }

  /** A write whose version is its token. Not one that may be appended unseen: that has no version to be given. */
  private static class WithToken extends Index {
    WithToken(Index write, long token) {
      super(write.uid(), write.parsedDoc(), write.seqNo(), write.primaryTerm(), token, VersionType.EXTERNAL_GTE,
          write.origin(), write.startTime(), IndexRequest.UNSET_AUTO_GENERATED_TIMESTAMP, false, write.getIfSeqNo(),
          write.getIfPrimaryTerm());
    }
  }

  /** The same of a document that must not be there: a version alone cannot say both. */
  private static final class Creation extends WithToken {
    private final Index asSent;

    Creation(Index write, long token) {
      super(write, token);
      asSent = write;
    }
  }

  /** No other write to the document can come between here and its execution. */
  @Override
  protected IndexingStrategy indexingStrategyForOperation(Index write) throws IOException {
    boolean refused = write instanceof Creation && exists(write);
    return super.indexingStrategyForOperation(refused ? ((Creation) write).asSent : write);
  }

  private boolean exists(Index write) {
    try (GetResult found = get(new Get(true, false, write.id(), write.uid()), this::acquireSearcher)) {
      return found.exists();
    }
  }

  private static Delete withToken(Delete write, long token) {
    return new Delete(write.id(), write.uid(), write.seqNo(), write.primaryTerm(), token, VersionType.EXTERNAL_GTE,
        write.origin(), write.startTime(), write.getIfSeqNo(), write.getIfPrimaryTerm());
  }
}
