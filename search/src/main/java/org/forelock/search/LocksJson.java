package org.forelock.search;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.forelock.MonitorView;
import org.forelock.OwnerRecord;
import org.forelock.WaiterView;

/** Monitors as JSON, in the form of the command's {@code ls -o json} and {@code show -o json}. */
public final class LocksJson {
  private LocksJson() {}

  public static Map<String, Object> list(List<MonitorView> monitors) {
    List<Object> all = new ArrayList<>();
    for (MonitorView monitor : monitors) {
      Map<String, Object> one = new LinkedHashMap<>();
      one.put("monitor", monitor.monitor());
      one.put("holder", holder(monitor));
      one.put("waiting", Map.of(
          "foreground", monitor.waitingForeground(), "background", monitor.waitingBackground()));
      all.add(one);
    }
    return Map.of("monitors", all);
  }

  public static Map<String, Object> show(MonitorView monitor) {
    Map<String, Object> one = new LinkedHashMap<>();
    one.put("monitor", monitor.monitor());
    one.put("path", monitor.path());
    one.put("holder", holder(monitor));
    List<Object> queue = new ArrayList<>();
    for (WaiterView waiter : monitor.queue()) {
      queue.add(waiter(waiter));
    }
    one.put("queue", queue);
    return one;
  }

  private static Map<String, Object> holder(MonitorView monitor) {
    if (!monitor.held()) {
      return null;
    }
    Map<String, Object> holder = new LinkedHashMap<>();
    holder.put("owner", monitor.owner().map(LocksJson::owner).orElse(null));
    holder.put("priority", monitor.holderType().map(Names::of).orElse(null));
    holder.put("node", monitor.holderNode().isEmpty() ? null : monitor.holderNode());
    holder.put("session", hex(monitor.holderSession()));
    holder.put("token", Long.toString(monitor.holderToken()));
    holder.put("held_ms", monitor.heldFor().toMillis());
    return holder;
  }

  private static Map<String, Object> waiter(WaiterView waiter) {
    Map<String, Object> one = new LinkedHashMap<>();
    one.put("position", waiter.position());
    one.put("node", waiter.node());
    one.put("priority", waiter.lockType().map(Names::of).orElse(null));
    one.put("owner", waiter.owner().map(LocksJson::owner).orElse(null));
    one.put("session", hex(waiter.session()));
    one.put("waited_ms", waiter.waited().toMillis());
    one.put("behind", waiter.behind());
    return one;
  }

  private static Map<String, Object> owner(OwnerRecord record) {
    Map<String, Object> owner = new LinkedHashMap<>();
    record.acquiredAt().ifPresent(at -> owner.put("acquiredAt", at.toString()));
    record.alertAt().ifPresent(at -> owner.put("alertAt", at.toString()));
    record.autoUnlockAt().ifPresent(at -> owner.put("autoUnlockAt", at.toString()));
    owner.put("enqueuedAt", record.enqueuedAt().toString());
    record.expectedRuntime().map(Duration::toMillis).ifPresent(ms -> owner.put("expectedRuntimeMs", ms));
    owner.put("guid", record.guid());
    owner.put("instance", record.instance());
    record.linger().map(Duration::toMillis).ifPresent(ms -> owner.put("lingerMs", ms));
    owner.put("lockInfo", record.lockInfo());
    owner.put("priority", Names.of(record.lockType()));
    if (!record.stack().isEmpty()) {
      owner.put("stack", record.stack());
    }
    return owner;
  }

  public static String hex(long session) {
    return "0x" + Long.toHexString(session);
  }
}
