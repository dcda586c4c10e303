package org.forelock.search;

import java.util.ArrayList;
import java.util.List;

/** A NodeEnd ends the plugin's parts when its node shuts down: each one, whatever another one throws. */
public final class NodeEnd {
  private NodeEnd() {}

  /**
   * Ends them.
   *
   * @param queue ends the dead-letter queue: after the requests that may put something there
   * @param session ends the session with ZooKeeper: last, as all have their locks in it. Not where another node goes on
   *     under one: then the session ends by itself
   */
  public static void close(
      Leases leases, HeldRequests requests, Runnable queue, UnguardedPeriods unguarded, Runnable session) {
    inTurn(List.of(leases::close, queue, unguarded::close, () -> {
      if (!requests.hasPromised()) {
        session.run();
      }
    }));
  }

  private static void inTurn(List<Runnable> steps) {
    List<RuntimeException> problems = new ArrayList<>();
    for (Runnable step : steps) {
      try {
        step.run();
      } catch (RuntimeException problem) {
        problems.add(problem);
      }
    }
    if (!problems.isEmpty()) {
      RuntimeException first = problems.remove(0);
      problems.forEach(first::addSuppressed);
      throw first;
    }
  }
}
