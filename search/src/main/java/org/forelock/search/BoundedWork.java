package org.forelock.search;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/** A BoundedWork runs tasks that may block, a few at a time; a bounded number of others waits. Thread-safe. */
public final class BoundedWork {
  private final Executor threads;
  private final int most;
  private final int mostWaiting;
  private final Deque<Runnable> waiting = new ArrayDeque<>();
  private int running;

  /**
   * Creates it.
   *
   * @param threads may block
   * @param most the largest number of running tasks
   * @param mostWaiting the largest number of waiting tasks
   */
  public BoundedWork(Executor threads, int most, int mostWaiting) {
    this.threads = threads;
    this.most = most;
    this.mostWaiting = mostWaiting;
  }

  /**
   * Runs a task when its turn comes.
   *
   * @param task does not throw; none that waits is done once the node closes
   * @return false: too many wait, or the node closes
   */
  public boolean offer(Runnable task) {
    synchronized (this) {
      if (running == most) {
        return waiting.size() < mostWaiting && waiting.add(task);
      }
      ++running;
    }
    return begin(task);
  }

  private boolean begin(Runnable task) {
    try {
      threads.execute(() -> {
        try {
          task.run();
        } finally {
          next();
        }
      });
      return true;
    } catch (RejectedExecutionException closing) {
      synchronized (this) {
        --running;
      }
      return false;
    }
  }

  private void next() {
    Runnable task;
    synchronized (this) {
      task = waiting.poll();
      if (task == null) {
        --running;
        return;
      }
    }
    begin(task);
  }
}
