package org.forelock.search;

import java.util.Arrays;
import java.util.Objects;
import java.util.Set;
import org.forelock.LockType;

/** A WritePlan describes the guarding of one request. Immutable. */
public final class WritePlan {
  public final LockType type;
  public final Set<String> monitors;
  /** Of a shard bulk: the monitor of each item, null for one that needs none. Else null. */
  public final String[] itemMonitors;
  /** Whether the token becomes the document's version. */
  public final boolean fenced;
  /** Whether the monitors stay when they are unused. */
  public final boolean kept;
  public final String info;
  public final long bytes;
  /** The limit of the request itself. */
  public final long timeoutMillis;
  /** Whether it is an update, whose locks cover the bulk that it becomes. */
  public final boolean update;
  /** The locks that the client declares to hold; null: the node obtains them. */
  public final HeldTokens held;
  /** Where they have different tokens. */
  public final DocumentTokens tokens;
  /** The guard of the update that it belongs to; null: it needs locks of its own. */
  public final String coveredBy;

  public WritePlan(LockType type, Set<String> monitors, String[] itemMonitors, boolean fenced, boolean kept,
      String info, long bytes, long timeoutMillis, HeldTokens held, DocumentTokens tokens) {
    this.type = type;
    this.monitors = monitors;
    this.itemMonitors = itemMonitors;
    this.fenced = fenced;
    this.kept = kept;
    this.info = info;
    this.bytes = bytes;
    this.timeoutMillis = timeoutMillis;
    this.update = itemMonitors == null;
    this.held = held;
    this.tokens = tokens;
    this.coveredBy = null;
  }

  /** The same in the background. */
  public WritePlan inBackground() {
    return new WritePlan(
        LockType.BACKGROUND, monitors, itemMonitors, fenced, kept, info, bytes, timeoutMillis, held, tokens);
  }

  /** The number of documents that need a lock. */
  public int documents() {
    return update ? 1 : (int) Arrays.stream(itemMonitors).filter(Objects::nonNull).count();
  }

  public WritePlan(String coveredBy) {
    this.type = null;
    this.monitors = Set.of();
    this.itemMonitors = null;
    this.fenced = false;
    this.kept = false;
    this.info = "";
    this.bytes = 0;
    this.timeoutMillis = 0;
    this.update = false;
    this.held = null;
    this.tokens = DocumentTokens.NONE;
    this.coveredBy = coveredBy;
  }
}
