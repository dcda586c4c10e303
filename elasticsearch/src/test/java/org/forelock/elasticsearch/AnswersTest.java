package org.forelock.elasticsearch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.util.List;
import org.elasticsearch.ElasticsearchStatusException;
import org.forelock.search.Refusals;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class AnswersTest {
  @BeforeAll
  static void begin() {
    TestLogging.begin();
  }

  @Test
  void aRefusalKeepsItsStatusCodeAndMonitor() {
    ElasticsearchStatusException answer = Answers.of(Refusals.notNamed("{m}", "other"));
    assertEquals(409, answer.status().getStatus());
    assertEquals(List.of("not_held"), answer.getMetadata(Answers.CODE));
    assertEquals(List.of("{m}"), answer.getMetadata("es.forelock_monitor"));
    assertEquals(Refusals.notNamed("{m}", "other").getMessage(), answer.getMessage(), "no part of it is a format");
  }

  @Test
  void whatIsNoRefusalIsLeftAsItIs() {
    Exception problem = new IllegalStateException();
    assertSame(problem, Answers.of(problem));
  }
}
