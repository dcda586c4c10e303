package org.forelock.search;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.forelock.ErrorCode;
import org.forelock.TestFailures;
import org.junit.jupiter.api.Test;

class NodeIdentityTest {
  private final Deque<Runnable> timers = new ArrayDeque<>();
  private final Deque<Long> delays = new ArrayDeque<>();
  private final List<String> log = new ArrayList<>();
  private String found = "";
  private List<NodeIdentity.Answer> nodes = List.of();
  private final NodeIdentity identity = new NodeIdentity(() -> {
    if (found == null) {
      throw TestFailures.of(ErrorCode.CONNECTION_LOSS, "");
    }
    return found;
  }, (millis, task) -> {
    delays.add(millis);
    timers.add(task);
  }, (level, text) -> log.add(level + " " + text));

  /** Of the others, at the next look; all that answer. */
  private void nodes(Map<String, String> known) {
    answers(known.entrySet().stream()
        .map(one -> new NodeIdentity.Answer(one.getKey(), one.getKey(), one.getValue())).toList());
  }

  private void answers(List<NodeIdentity.Answer> answers) {
    nodes = answers;
    timers.poll().run();
  }

  private void begin(String own) {
    found = own;
    identity.use(then -> then.accept(nodes));
    identity.nodesChanged();
  }

  @Test
  void oneNamespaceIsNoProblem() {
    begin("a");
    nodes(Map.of("n1", "a", "n2", "a", "n3", ""));
    identity.check();
    assertTrue(identity.problems().isEmpty());
    assertEquals("a", identity.own());
  }

  @Test
  void theFewRefuse() {
    begin("b");
    nodes(Map.of("n1", "a", "n2", "b", "n3", "a"));
    Refusal refusal = assertThrows(Refusal.class, identity::check);
    assertEquals(503, refusal.status);
    assertEquals("other_zookeeper", refusal.code);
    assertTrue(refusal.getMessage().contains("[n1, n3] in a, [n2] in b"), refusal.getMessage());
    assertEquals(1, identity.problems().size());

    nodes(Map.of("n1", "a", "n2", "b", "n3", "a"));
    assertEquals(List.of("WARNING " + identity.problems().get(0)), log, "once");

    found = "a"; // it was put right, or the others were
    nodes(Map.of("n1", "a", "n2", "a", "n3", "a"));
    identity.check();
    assertTrue(identity.problems().isEmpty());
    assertEquals("INFO the nodes' locks are in one ZooKeeper namespace again", log.get(1));
  }

  @Test
  void theManyGoOnAndTell() {
    begin("a");
    nodes(Map.of("n1", "a", "n2", "b", "n3", "a"));
    identity.check();
    assertTrue(identity.problems().get(0).contains("[n2] in b"), identity.problems().toString());
  }

  @Test
  void halfIsNotEnough() {
    begin("a");
    nodes(Map.of("n1", "a", "n2", "b"));
    assertThrows(Refusal.class, identity::check);
  }

  @Test
  void eachOnItsOwnRefuses() {
    begin("a");
    nodes(Map.of("n1", "a", "n2", "b", "n3", "c"));
    assertThrows(Refusal.class, identity::check);
  }

  @Test
  void whoHasNoConnectionAsksSoonAgain() {
    begin("");
    nodes(Map.of("n1", "a", "n2", "b"));
    identity.check();
    assertEquals("", identity.own());
    delays.poll();
    assertTrue(delays.poll() < 1000);
    found = "c";
    nodes(Map.of("n1", "a", "n2", "a", "n3", "c"));
    assertThrows(Refusal.class, identity::check);
    assertTrue(delays.poll() > 1000);
    found = null;
    identity.nodesChanged();
    timers.pollLast().run();
    assertEquals("c", identity.own(), "what was found before is true until something else is found");
    assertThrows(Refusal.class, identity::check);
  }

  @Test
  void whoDoesNotAnswerForAWhileHasWhatItHadBefore() {
    begin("b");
    nodes(Map.of("n1", "a", "n2", "b", "n3", "a"));
    assertThrows(Refusal.class, identity::check);
    NodeIdentity.Answer own = new NodeIdentity.Answer("n2", "n2", "b");
    answers(List.of(new NodeIdentity.Answer("n1", "n1", null), own, new NodeIdentity.Answer("n3", "n3", null)));
    assertThrows(Refusal.class, identity::check, "a pause of the others makes nothing right");
    assertEquals(1, log.size(), log.toString());
    answers(List.of(own, new NodeIdentity.Answer("n3 started again", "n3", null)));
    identity.check();
    assertTrue(identity.problems().isEmpty(), "they have gone");
  }

  @Test
  void nodesOfOneNameAreSeveral() {
    begin("b");
    answers(List.of(new NodeIdentity.Answer("1", "host", "b"), new NodeIdentity.Answer("2", "host", "a"),
        new NodeIdentity.Answer("3", "host", "a")));
    Refusal refusal = assertThrows(Refusal.class, identity::check);
    assertTrue(refusal.getMessage().contains("[host, host] in a, [host] in b"), refusal.getMessage());
  }

  @Test
  void anAnswerThatComesLateChangesNothing() {
    Deque<Consumer<List<NodeIdentity.Answer>>> asked = new ArrayDeque<>();
    found = "b";
    identity.use(asked::add);
    identity.nodesChanged();
    timers.poll().run();
    identity.nodesChanged();
    timers.pollLast().run();
    asked.pollLast().accept(List.of(
        new NodeIdentity.Answer("n1", "n1", "a"), new NodeIdentity.Answer("n2", "n2", "b")));
    asked.poll().accept(List.of(new NodeIdentity.Answer("n2", "n2", "b")));
    assertThrows(Refusal.class, identity::check);
  }
}
