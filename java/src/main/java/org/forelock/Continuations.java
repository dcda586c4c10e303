package org.forelock;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Runs what depends on the futures of a client, which may wait for locks and for each other: each on a thread that is
 * idle, or on another one, up to a limit. A thread that cannot be had is an exception of {@link #execute}.
 */
final class Continuations implements Executor {
  /** So that a burst does not use up the threads of the host. */
  static final int MAX_THREADS = 64;

  private final ThreadPoolExecutor threads;

  /**
   * Without a thread as yet.
   *
   * @param afterEnd runs what comes after {@link #end}
   */
  Continuations(ThreadFactory factory, Executor afterEnd) {
    // A pool offers a task to its queue before it makes a thread: this one takes what a thread waits for, and no more.
    LinkedTransferQueue<Runnable> queue = new LinkedTransferQueue<>() {
      private static final long serialVersionUID = 1L;

      @Override
      public boolean offer(Runnable task) {
        return tryTransfer(task);
      }
    };
    threads = new ThreadPoolExecutor(0, MAX_THREADS, 10, TimeUnit.SECONDS, queue, factory, (task, pool) -> {
      queue.put(task);
      if (pool.isShutdown() && queue.remove(task)) {
        afterEnd.execute(task);
      }
    });
  }

  @Override
  public void execute(Runnable task) {
    threads.execute(task);
  }

  /** What was given before is run. Does not wait. */
  void end() {
    threads.shutdown();
  }
}
