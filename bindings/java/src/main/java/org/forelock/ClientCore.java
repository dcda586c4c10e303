package org.forelock;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * A client without its public object, so that the polling thread does not keep that object alive. One daemon thread
 * fetches the native library's events and only hands them on; another one runs the application's callbacks. Both exist
 * from the beginning to the end, since later no thread may be available. Dependents of futures may take long and run on
 * further threads; where none is available, on the callback thread.
 */
final class ClientCore {
  private static final int BATCH = 128;
  private static final int MAX_LOG_LINES = 1000;
  /** The longest wait of a client's end for a logger of the host. */
  private static final long LONGEST_LOG_S = 5;
  /** The pause after events could not be fetched for lack of memory. */
  private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(50);

  final long handle;
  /** Whether locks may linger. */
  final boolean lingers;

  private final Machine machine;
  private final Predicate<Thread> neverWaiting;
  /** Receives the log lines of the library and of this package. */
  private final System.Logger logger;
  /** Runs the application's callbacks, one after the other; after the end, on the calling thread. */
  private final ThreadPoolExecutor callbacks;
  private final CallWatch watch;
  private final long lookMs;
  private final Continuations continuations;
  /** Completes futures: an executor of the application, or the one above. */
  private final Executor completing;
  private final ThreadPoolExecutor logging;
  private final AtomicLong tags = new AtomicLong();
  private final Map<Long, Consumer<Event>> completions = new ConcurrentHashMap<>();
  private final Map<Long, Consumer<Event>> operations = new ConcurrentHashMap<>();
  private final Map<Long, Consumer<Event>> listeners = new ConcurrentHashMap<>();
  private final Object told = new Object();
  private final Thread poller;
  private volatile boolean refusing;
  private volatile boolean closing;
  private volatile boolean ended;

  /**
   * Frees the handle if there is no thread for it.
   *
   * @param slowMs a callback that runs for longer is named in the log
   * @param executor completes futures; null: threads of the client
   * @param neverWaiting whether a thread must not wait
   */
  ClientCore(long handle, System.Logger logger, boolean lingers, long slowMs, Executor executor,
      Predicate<Thread> neverWaiting, Machine machine) {
    this.neverWaiting = neverWaiting;
    this.handle = handle;
    this.logger = logger;
    this.lingers = lingers;
    this.machine = machine;
    lookMs = slowMs;
    watch = new CallWatch(slowMs);
    callbacks = new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>(),
        task -> machine.thread(task, "forelock-callbacks"), (task, pool) -> task.run());
    continuations = new Continuations(task -> machine.thread(task, "forelock-async"), callbacks);
    completing = executor == null ? continuations : executor;
    logging = new ThreadPoolExecutor(1, 1, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(MAX_LOG_LINES),
        task -> machine.thread(task, "forelock-log"), new ThreadPoolExecutor.DiscardPolicy());
    logging.allowCoreThreadTimeOut(true);
    try {
      long[] numbers = new long[BATCH * Layouts.Event.NUMBERS];
      byte[][] texts = new byte[BATCH * Layouts.Event.TEXTS][];
      poller = machine.thread(() -> poll(numbers, texts), "forelock-poll");
      callbacks.prestartCoreThread();
      poller.start();
    } catch (Throwable problem) {
      callbacks.shutdown();
      Native.clientFree(handle);
      throw problem;
    }
  }

  /** Whether this is the thread that fetches events: it must not wait for one. */
  boolean onPoller() {
    return Thread.currentThread() == poller;
  }

  /** Refuses a call that would wait on a thread that must not. @param instead the alternative to name */
  void checkMayWait(String monitor, String instead) {
    Thread thread = Thread.currentThread();
    if (neverWaiting.test(thread)) {
      throw new RequestRejectedException(ErrorCode.INVALID_ARGUMENT, monitor,
          "the thread '" + thread.getName() + "' serves others and must not wait", instead);
    }
  }

  /** Never throws and never waits, whatever the host's logger does. Lines beyond the queue's limit are dropped. */
  void log(System.Logger.Level level, String message, Throwable problem) {
    try {
      logging.execute(() -> {
        try {
          if (problem == null) {
            logger.log(level, message);
          } else {
            logger.log(level, message, problem);
          }
        } catch (Throwable ofTheHost) {
          // There is no other place to report it.
        }
      });
    } catch (Throwable noThread) {
      // As above.
    }
  }

  void log(System.Logger.Level level, String message) {
    log(level, message, null);
  }

  /** Passes the next event with the returned tag, and no later one, to the consumer, on the polling thread. */
  long expect(Consumer<Event> consumer) {
    long tag = tags.incrementAndGet();
    completions.put(tag, consumer);
    return tag;
  }

  void forget(long tag) {
    completions.remove(tag);
    operations.remove(tag);
    listeners.remove(tag);
    if (closing) {
      wakeClosers();
    }
  }

  /** Passes all events of the operation or replay with that tag to the consumer, on the polling thread. */
  long follow(Consumer<Event> consumer) {
    long tag = tags.incrementAndGet();
    operations.put(tag, consumer);
    return tag;
  }

  /** Passes all events with the returned tag to the consumer, on the polling thread, until it is forgotten. */
  long listen(Consumer<Event> consumer) {
    long tag = tags.incrementAndGet();
    listeners.put(tag, consumer);
    return tag;
  }

  /** Completes a future of the application, and so runs its dependents; perhaps twice. Never throws. */
  void complete(Runnable completion) {
    try {
      completing.execute(completion);
    } catch (Throwable refused) {
      call("a continuation", completion);
      if (completing != continuations && !(refused instanceof RejectedExecutionException)) {
        log(System.Logger.Level.WARNING, "an executor has thrown", refused);
      }
    }
  }

  /**
   * Runs a callback of the application and logs its exceptions. Never throws.
   *
   * @param name for people: "onLost of the lock on P1"
   */
  void call(String name, Runnable callback) {
    Runnable guarded = () -> {
      watch.begin(name);
      try {
        callback.run();
      } catch (Throwable problem) {
        log(System.Logger.Level.ERROR, "a callback has thrown", problem);
      } finally {
        watch.end();
      }
    };
    watch.expect();
    try {
      callbacks.execute(guarded);
    } catch (Throwable noMemory) {
      guarded.run(); // it may be a completion, which must not be lost
    }
  }

  /** No acquisition and no operation begins after this. */
  void refuseNew() {
    refusing = true;
  }

  /** Whether new acquisitions and operations are refused. */
  boolean isRefusing() {
    return refusing;
  }

  /** If new ones are refused, reports to the tag's consumer that the client is closed. Whether it has. */
  boolean refuses(long tag) {
    if (refusing) {
      tell(completions.remove(tag), Event.CLOSED);
    }
    return refusing;
  }

  /** Whether a lock is held by a caller, waited for, or not certainly released. */
  boolean isInUse() {
    try {
      ClientStatus status = ClientStatus.of(this);
      return !closing && status.contenders() > status.lingering();
    } catch (ForelockException ended) {
      return false;
    }
  }

  /** After an asynchronous call: fetches the answer of a closed client, for which no thread polls any more. */
  void fetchIfEnded() {
    if (ended) {
      fetch(0, new long[BATCH * Layouts.Event.NUMBERS], new byte[BATCH * Layouts.Event.TEXTS][]);
    }
  }

  /**
   * Returns when every waiter for a lock has been notified. The polling thread has ended then, too, unless operations
   * are under way: their attempts may wait for the thread that calls this.
   */
  void close() {
    closing = true;
    Native.clientClose(handle);
    if (onPoller()) {
      return;
    }
    long last = tags.get();
    boolean interrupted = false;
    synchronized (told) {
      while (!ended && (operations.isEmpty() || completions.keySet().stream().anyMatch(tag -> tag <= last))) {
        try {
          told.wait();
        } catch (InterruptedException later) {
          interrupted = true;
        }
      }
    }
    interrupted |= !awaitLog();
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Waits, at most for the limit, until logged lines are written. False: interrupted. */
  private boolean awaitLog() {
    if (logging.getPoolSize() == 0) {
      return true;
    }
    CountDownLatch written = new CountDownLatch(1);
    try {
      logging.execute(written::countDown);
      written.await(LONGEST_LOG_S, TimeUnit.SECONDS);
      return true;
    } catch (InterruptedException interruption) {
      return false;
    } catch (Throwable noThread) {
      return true;
    }
  }

  private void poll(long[] numbers, byte[][] texts) {
    try {
      for (int count = 0; !isEnd(count); count = fetch(watch.isBusy() ? lookMs : -1, numbers, texts)) {
        String slow = watch.look();
        if (slow != null) {
          log(System.Logger.Level.WARNING, slow);
        }
        if (closing) {
          wakeClosers();
        }
        if (count < 0) {
          Thread.interrupted(); // of the application's code: nothing here is interrupted
          LockSupport.parkNanos(PAUSE_NS);
        }
      }
    } finally {
      ended = true;
      try {
        fetch(0, numbers, texts); // of calls that have seen it before
        endAll(completions);
        endAll(operations);
      } finally {
        wakeClosers();
        callbacks.shutdown();
        continuations.end();
      }
    }
  }

  /** Whether a result of fetch() says that no event will follow. */
  private static boolean isEnd(int count) {
    return count == -ErrorCode.CLOSED.number() || count == -ErrorCode.INVALID_HANDLE.number();
  }

  /** Ends calls whose events were lost for lack of memory, and calls that have begun just now. */
  private void endAll(Map<Long, Consumer<Event>> awaited) {
    for (Long tag : awaited.keySet()) {
      try {
        tell(awaited.remove(tag), Event.CLOSED);
      } catch (Throwable problem) {
        log(System.Logger.Level.ERROR, "an end was not handled", problem);
      }
    }
  }

  private void wakeClosers() {
    synchronized (told) {
      told.notifyAll();
    }
  }

  /** Never throws; returns a count, or a negative code. Holds no mutex: it may run the application's code. */
  private int fetch(long timeoutMs, long[] numbers, byte[][] texts) {
    int count;
    try {
      count = machine.poll(handle, timeoutMs, numbers, texts);
    } catch (Throwable problem) {
      log(System.Logger.Level.ERROR, "events could not be fetched", problem);
      return -ErrorCode.OUT_OF_MEMORY.number();
    }
    for (int i = 0; i < count; ++i) {
      try {
        dispatch(new Event(numbers, texts, i));
      } catch (Throwable problem) {
        log(System.Logger.Level.ERROR, "an event was not handled", problem);
      }
    }
    return count;
  }

  private void dispatch(Event event) {
    switch (event.kind) {
      case Native.EVENT_LOG:
        log(level(event.name), event.message);
        break;
      case Native.EVENT_DROPPED:
        log(System.Logger.Level.WARNING, event.value + " events were dropped");
        break;
      case Native.EVENT_ACQUIRED:
      case Native.EVENT_RELEASED:
        tell(completions.remove(event.tag), event);
        break;
      case Native.EVENT_OPERATION:
      case Native.EVENT_REPLAY:
        tell(operations.remove(event.tag), event);
        break;
      case Native.EVENT_ATTEMPT:
      case Native.EVENT_FAILURE:
      case Native.EVENT_LETTER:
        tell(operations.get(event.tag), event);
        break;
      default:
        tell(listeners.get(event.tag), event);
        break;
    }
  }

  private static void tell(Consumer<Event> consumer, Event event) {
    if (consumer != null) {
      consumer.accept(event);
    }
  }

  private static System.Logger.Level level(String name) {
    switch (name) {
      case "error":
        return System.Logger.Level.ERROR;
      case "warning":
        return System.Logger.Level.WARNING;
      case "debug":
        return System.Logger.Level.DEBUG;
      default:
        return System.Logger.Level.INFO;
    }
  }
}
