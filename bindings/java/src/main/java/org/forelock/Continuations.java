package org.forelock;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
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
    Queue queue = new Queue();
    threads = new ThreadPoolExecutor(0, MAX_THREADS, 10, TimeUnit.SECONDS, queue, factory, (task, pool) -> {
      queue.keep(task);
      if (pool.isShutdown() && queue.remove(task)) {
        afterEnd.execute(task);
      }
    });
  }

  @Override
  public void execute(Runnable task) {
    threads.execute(task);
  }

  /** A pool offers a task before it makes a thread: this queue takes what an idle thread waits for, and no more. */
  private static final class Queue extends LinkedBlockingQueue<Runnable> {
    private static final long serialVersionUID = 1L;
    private int idle;

    @Override
    public synchronized boolean offer(Runnable task) {
      return idle > size() && super.offer(task);
    }

    /** Until any thread has time for it. */
    void keep(Runnable task) {
      super.offer(task);
    }

    @Override
    public Runnable poll(long time, TimeUnit unit) throws InterruptedException {
      synchronized (this) {
        ++idle;
      }
      Runnable task = null;
      boolean waited = false;
      try {
        task = super.poll(time, unit);
        waited = true;
      } finally {
        synchronized (this) {
          --idle;
          if (waited && task == null) {
            task = poll(); // of an offer that still took this thread for idle
          }
        }
      }
      return task;
    }
  }

  /** What was given before is run. Does not wait. */
  void end() {
    threads.shutdown();
  }
}
