package org.forelock.opensearch;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;
import org.forelock.search.Names;
import org.forelock.search.NodeParts;
import org.forelock.search.Refusals;
import org.opensearch.common.unit.TimeValue;
import org.opensearch.common.util.concurrent.AbstractRunnable;
import org.opensearch.threadpool.ThreadPool;

/** Workers are the node's threads for work that was held. Thread-safe. */
class Workers implements NodeParts.Threads {
  /** The largest number of the node's threads that may be blocked at a time. */
  static final int MAX_BLOCKED = 2;

  private final ThreadPool threads;
  private final Deque<Runnable> waiting = new ArrayDeque<>();
  private int blocked;

  Workers(ThreadPool threads) {
    this.threads = threads;
  }

  @Override
  public void write(Runnable task, Consumer<Exception> failed) {
    threads.executor(ThreadPool.Names.WRITE).execute(work(task, failed, true));
  }

  /**
   * Does it on a thread that may block, after those that were given before.
   *
   * @param failed is told what the task throws; what waits for a thread when the node closes is not told
   */
  void block(Runnable task, Consumer<Exception> failed) {
    Runnable work = work(() -> {
      try {
        task.run();
      } finally {
        unblock();
      }
    }, failed, false);
    synchronized (this) {
      if (blocked == MAX_BLOCKED) {
        waiting.add(work);
        return;
      }
      ++blocked;
    }
    threads.generic().execute(work);
  }

  private void unblock() {
    Runnable next;
    synchronized (this) {
      next = waiting.poll();
      if (next == null) {
        --blocked;
        return;
      }
    }
    threads.generic().execute(next);
  }

  /**
   * Does it after a time; not if the node is closed before.
   *
   * @param failed is told what the task throws
   */
  void later(long millis, Runnable task, Consumer<Exception> failed) {
    threads.scheduleUnlessShuttingDown(
        TimeValue.timeValueMillis(millis), ThreadPool.Names.GENERIC, work(task, failed, false));
  }

  private static AbstractRunnable work(Runnable task, Consumer<Exception> failed, boolean force) {
    return new AbstractRunnable() {
      @Override
      protected void doRun() {
        task.run();
      }

      @Override
      public boolean isForceExecution() {
        return force;
      }

      @Override
      public void onFailure(Exception problem) {
        failed.accept(problem);
      }

      @Override
      public void onRejection(Exception closing) {
        failed.accept(Answers.of(Refusals.closing()));
      }
    };
  }
}
