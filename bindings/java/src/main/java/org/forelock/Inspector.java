package org.forelock;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Semaphore;

/** A look at a namespace: which locks are held, by which clients, which wait, and why. Thread-safe. */
public final class Inspector {
  private static final long TIMEOUT_MS = 5000;
  /** How long a caller whose time is up is kept waiting for the name of the holder. */
  private static final long LOOK_MS = 150;
  /** Of describeHolder() at a time: thousands whose time is up together need no thread each. */
  private static final Semaphore LOOKS = new Semaphore(16);

  private final ForelockClient client;

  Inspector(ForelockClient client) {
    this.client = client;
  }

  /** What {@link #forceRelease} did. */
  public enum ForceRelease {
    /** The holder's nodes are gone. */
    RELEASED,
    /** Another client holds it now, or none: nothing was done. */
    HOLDER_CHANGED,
    /** There is no such monitor. */
    NO_SUCH_MONITOR
  }

  /**
   * The monitors that are held or waited for, sorted by id.
   *
   * @param all the idle ones, too
   * @return without their lines
   */
  public List<MonitorView> list(boolean all) {
    return Blocking.call(() -> {
      long view = Native.inspectList(client.core().handle, all, TIMEOUT_MS);
      try {
        List<MonitorView> monitors = new ArrayList<>();
        for (int i = 0; i < Native.viewCount(view); ++i) {
          monitors.add(monitor(view, i, List.of()));
        }
        return monitors;
      } finally {
        Native.viewFree(view);
      }
    });
  }

  /**
   * One monitor in full.
   *
   * @param monitor its id
   * @return nothing if it does not exist
   */
  public Optional<MonitorView> show(String monitor) {
    return Blocking.call(() -> {
      long view = Native.inspectShow(client.core().handle, NativeLibrary.utf8(monitor), TIMEOUT_MS);
      try {
        if (Native.viewCount(view) == 0) {
          return Optional.<MonitorView>empty();
        }
        long count = monitor(view, 0, List.of()).waiting();
        List<WaiterView> queue = new ArrayList<>();
        for (int i = 0; i < count; ++i) {
          queue.add(waiter(view, i));
        }
        return Optional.of(monitor(view, 0, queue));
      } finally {
        Native.viewFree(view);
      }
    });
  }

  /**
   * One monitor's holder alone, by one read, however many wait.
   *
   * @param monitor its id
   * @return nothing if it is not held; without its queue, path and holder's node
   */
  public Optional<MonitorView> holder(String monitor) {
    return Blocking.call(() -> {
      long view = Native.inspectHolder(client.core().handle, NativeLibrary.utf8(monitor), TIMEOUT_MS);
      try {
        return Native.viewCount(view) == 0 ? Optional.<MonitorView>empty()
            : Optional.of(monitor(view, 0, List.of())).filter(MonitorView::held);
      } finally {
        Native.viewFree(view);
      }
    });
  }

  /**
   * A text by which two processes find out whether they share one namespace: the same for all clients of it, whichever
   * of its servers they name, and for no other one in the world. Made by the first who asks; lost with the servers'
   * data.
   *
   * @return that text
   */
  public String identity() {
    return Blocking.call(() -> Failures.text(Native.inspectIdentity(client.core().handle, TIMEOUT_MS)));
  }

  /**
   * Removes a holder. Writes; meant for people and unlockers.
   *
   * @param monitor the id
   * @param holder its node, or for a holder without one its session as "0x…", with "@" and its token behind it, since
   *     names come again in a monitor that is made anew; nothing is done if another holds it now
   * @return what was done
   */
  public ForceRelease forceRelease(String monitor, String holder) {
    return Blocking.call(() -> ForceRelease.values()[Native.forceRelease(
        client.core().handle, NativeLibrary.utf8(monitor), NativeLibrary.utf8(holder), TIMEOUT_MS)]);
  }

  /** "; held by … for …", for a message; empty if it cannot be read at once, or too many ask. Blocks for 150 ms. */
  static String describeHolder(ClientCore core, String monitor) {
    if (!LOOKS.tryAcquire()) {
      return "";
    }
    try {
      return Blocking.call(() -> {
        long view = Native.inspectHolder(core.handle, NativeLibrary.utf8(monitor), LOOK_MS);
        try {
          if (Native.viewCount(view) == 0) {
            return "";
          }
          MonitorView seen = monitor(view, 0, List.of());
          String holder = seen.owner().map(Inspector::described).orElse("a client that leaves no record");
          return seen.held() ? "; held by " + holder : "; it is not held at this moment";
        } finally {
          Native.viewFree(view);
        }
      });
    } catch (ForelockException unknown) {
      return "";
    } finally {
      LOOKS.release();
    }
  }

  private static String described(OwnerRecord owner) {
    return owner + owner.acquiredAt().map(time -> {
      long tenths = Math.max(0, Duration.between(time, Instant.now()).toMillis() + 50) / 100;
      return " (" + tenths / 10 + "." + tenths % 10 + " s)";
    }).orElse("");
  }

  private static MonitorView monitor(long view, int index, List<WaiterView> queue) {
    long[] numbers = new long[MonitorView.NUMBERS];
    byte[][] texts = new byte[MonitorView.TEXTS][];
    Native.viewMonitor(view, index, numbers, texts);
    return new MonitorView(numbers, texts, queue);
  }

  /**
   * The lock set to which a contender belongs: what it holds, and what it waits for. Reads the members, or all monitors
   * where its record does not name them all.
   *
   * @param monitor one in which it holds or waits
   * @param node its node there: {@link MonitorView#holderNode()} or {@link WaiterView#node()}
   * @return nothing if it is not there, left no record, or belongs to no set
   */
  public Optional<LockSetView> lockSet(String monitor, String node) {
    return Blocking.call(() -> {
      long view = Native.inspectShow(client.core().handle, NativeLibrary.utf8(monitor), TIMEOUT_MS);
      try {
        OptionalLong waiter = find(view, node);
        if (waiter.isEmpty()) {
          return Optional.<LockSetView>empty();
        }
        long set = Native.inspectSet(client.core().handle, view, waiter.getAsLong(), TIMEOUT_MS);
        if (set == 0) {
          return Optional.<LockSetView>empty();
        }
        try {
          return Optional.of(LockSetView.of(set));
        } finally {
          Native.viewFree(set);
        }
      } finally {
        Native.viewFree(view);
      }
    });
  }

  /** Where in a view of one monitor a node is: -1 for the holder's. */
  private static OptionalLong find(long view, String node) {
    if (Native.viewCount(view) == 0 || node.isEmpty()) {
      return OptionalLong.empty();
    }
    MonitorView seen = monitor(view, 0, List.of());
    if (seen.holderNode().equals(node)) {
      return OptionalLong.of(-1);
    }
    for (int i = 0; i < seen.waiting(); ++i) {
      if (waiter(view, i).node().equals(node)) {
        return OptionalLong.of(i);
      }
    }
    return OptionalLong.empty();
  }

  private static WaiterView waiter(long view, int index) {
    long[] numbers = new long[WaiterView.NUMBERS];
    byte[][] texts = new byte[WaiterView.TEXTS][];
    Native.viewWaiter(view, index, numbers, texts);
    return new WaiterView(numbers, texts);
  }
}
