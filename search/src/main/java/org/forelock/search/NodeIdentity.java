package org.forelock.search;

import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.forelock.ForelockException;

/**
 * The NodeIdentity compares the ZooKeeper namespace of this node's locks with the other nodes' namespaces: locks in
 * different ones do not exclude each other. Nodes of the namespace that more than half of them have continue; the
 * others refuse writes that need a lock. Nodes that have no connection yet, or an older plugin, do not count; one that
 * does not answer for a while keeps its former namespace. Thread-safe.
 */
public final class NodeIdentity {
  private static final long UNKNOWN_MILLIS = 500;
  private static final long KNOWN_MILLIS = 10_000;

  private final Supplier<String> look;
  private final BiConsumer<Level, String> log;
  private final BiConsumer<Long, Runnable> later;
  private final AtomicBoolean begun = new AtomicBoolean();
  private volatile Nodes nodes = then -> {};
  private volatile String own = "";
  private volatile Refusal refusal;
  private volatile List<String> problems = List.of();
  private final AtomicLong asked = new AtomicLong();
  /** The latest question that was answered; guarded by this, as the next one. */
  private long judged;
  /** The last answer of each process. */
  private Map<String, String> known = Map.of();

  /**
   * The answer of a node of the cluster.
   *
   * @param node its process: another one after each start
   * @param name for people; several may have one
   * @param identity empty: it does not know it; null: it has not answered
   */
  public record Answer(String node, String name, String identity) {}

  /** The nodes of the cluster, this one too. */
  public interface Nodes {
    /** @param then called once, with an answer of each that is in the cluster */
    void ask(Consumer<List<Answer>> then);
  }

  /**
   * Nothing is known yet.
   *
   * @param look reads the identity; empty: there is no connection. May block
   * @param later does something after so many milliseconds, where it may block; not if the node ends before
   * @param log is told when the nodes begin to differ, and when they agree again
   */
  public NodeIdentity(Supplier<String> look, BiConsumer<Long, Runnable> later, BiConsumer<Level, String> log) {
    this.log = log;
    this.look = look;
    this.later = later;
  }

  /** To be called before the first change of the nodes. */
  public void use(Nodes others) {
    nodes = others;
  }

  /** Some have come or gone; the first time, this one has joined them. Compares, and from now on at intervals. */
  public void nodesChanged() {
    later.accept(0L, begun.compareAndSet(false, true) ? this::again : this::compare);
  }

  private void again() {
    try {
      compare();
    } finally {
      later.accept(own.isEmpty() ? UNKNOWN_MILLIS : KNOWN_MILLIS, this::again);
    }
  }

  private void compare() {
    try {
      String found = look.get();
      own = found.isEmpty() ? own : found;
    } catch (ForelockException unknown) {
      // The former result stays valid until there is another one.
    }
    if (!own.isEmpty()) {
      long number = asked.incrementAndGet();
      nodes.ask(answers -> judge(number, answers));
    }
  }

  private synchronized void judge(long number, List<Answer> answers) {
    if (number < judged) {
      return;
    }
    judged = number;
    Map<String, String> now = new HashMap<>();
    Map<String, List<String>> named = new TreeMap<>(); // which nodes have an identity
    for (Answer answer : answers) {
      String identity = answer.identity() == null ? known.getOrDefault(answer.node(), "") : answer.identity();
      now.put(answer.node(), identity);
      if (!identity.isEmpty()) {
        named.computeIfAbsent(identity, none -> new ArrayList<>()).add(answer.name());
      }
    }
    known = now;
    named.values().forEach(Collections::sort);
    int with = named.getOrDefault(own, List.of()).size();
    int all = named.values().stream().mapToInt(List::size).sum();
    if (named.size() < 2) {
      if (!problems.isEmpty()) {
        log.accept(Level.INFO, "the nodes' locks are in one ZooKeeper namespace again");
      }
      refusal = null;
      problems = List.of();
      return;
    }
    String who = named.entrySet().stream().map(one -> one.getValue() + " in " + one.getKey())
        .collect(Collectors.joining(", "));
    boolean most = 2 * with > all;
    refusal = most ? null : Refusals.otherZooKeeper(own, who);
    String problem = "the nodes' locks are in different ZooKeeper namespaces, and do NOT EXCLUDE EACH OTHER: " + who
        + (most ? "; the others refuse guarded writes" : "; this node refuses guarded writes")
        + ". Give all nodes the same forelock.zookeeper.servers, and restart those that you have changed";
    if (!problems.contains(problem)) {
      log.accept(Level.WARNING, problem);
    }
    problems = List.of(problem);
  }

  /** @throws Refusal if locks of this node exclude too few others */
  public void check() {
    Refusal reason = refusal;
    if (reason != null) {
      throw reason;
    }
  }

  /** Problems for an operator to correct. */
  public List<String> problems() {
    return problems;
  }

  /** Empty: it is not known yet. */
  public String own() {
    return own;
  }
}
