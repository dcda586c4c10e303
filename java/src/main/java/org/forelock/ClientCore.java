package org.forelock;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * A client without its public face, so that its polling thread does not keep that alive. Events of the native library
 * are fetched by one daemon thread, which only hands them on; code of the application runs on another one.
 */
final class ClientCore {
  private static final int BATCH = 128;
  private static final int MAX_LOG_LINES = 1000;

  final long handle;
  /** What the library has to say, and this package about it. */
  final System.Logger logger;
  /** Runs the application's callbacks, one after the other. */
  final Executor callbacks = single("forelock-callbacks", new LinkedBlockingQueue<>());

  private final Executor logging = single("forelock-log", new LinkedBlockingQueue<>(MAX_LOG_LINES));
  private final AtomicLong tags = new AtomicLong();
  private final Map<Long, Consumer<Event>> completions = new ConcurrentHashMap<>();
  private final Map<Long, Consumer<Event>> listeners = new ConcurrentHashMap<>();
  private final Thread poller = Blocking.daemon(this::poll, "forelock-poll");
  private volatile boolean ended;

  ClientCore(long handle, System.Logger logger) {
    this.handle = handle;
    this.logger = logger;
    poller.start();
  }

  private static Executor single(String name, LinkedBlockingQueue<Runnable> queue) {
    ThreadPoolExecutor executor = new ThreadPoolExecutor(
        1, 1, 10, TimeUnit.SECONDS, queue, task -> Blocking.daemon(task, name),
        new ThreadPoolExecutor.DiscardPolicy());
    executor.allowCoreThreadTimeOut(true);
    return executor;
  }

  /** The next event with the returned tag goes to the consumer, on the polling thread, and no other. */
  long expect(Consumer<Event> consumer) {
    long tag = tags.incrementAndGet();
    completions.put(tag, consumer);
    return tag;
  }

  void forget(long tag) {
    completions.remove(tag);
    listeners.remove(tag);
  }

  /** All events with the returned tag go to the consumer, on the polling thread, until it is forgotten. */
  long listen(Consumer<Event> consumer) {
    long tag = tags.incrementAndGet();
    listeners.put(tag, consumer);
    return tag;
  }

  /** Runs the application's code; what it throws is logged. */
  void call(Runnable callback) {
    callbacks.execute(() -> {
      try {
        callback.run();
      } catch (Throwable problem) {
        logger.log(System.Logger.Level.ERROR, "a callback has thrown", problem);
      }
    });
  }

  /** After an asynchronous call: that of a closed client is answered at once, when nothing polls any more. */
  void fetchIfEnded() {
    if (ended) {
      fetch(0, new long[BATCH * Event.NUMBERS], new byte[BATCH * Event.TEXTS][]);
    }
  }

  void close() {
    Native.clientClose(handle);
    if (Thread.currentThread() == poller) {
      return;
    }
    boolean interrupted = false;
    while (poller.isAlive()) {
      try {
        poller.join();
      } catch (InterruptedException later) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void poll() {
    long[] numbers = new long[BATCH * Event.NUMBERS];
    byte[][] texts = new byte[BATCH * Event.TEXTS][];
    while (fetch(-1, numbers, texts) >= 0) {
      continue;
    }
    ended = true;
    fetch(0, numbers, texts); // of calls that have seen it before
  }

  /** Without a mutex: an executor of the application's may run its code here. */
  private int fetch(long timeoutMs, long[] numbers, byte[][] texts) {
    int count = Native.poll(handle, timeoutMs, numbers, texts);
    for (int i = 0; i < count; ++i) {
      try {
        dispatch(new Event(numbers, texts, i));
      } catch (Throwable problem) {
        logger.log(System.Logger.Level.ERROR, "an event was not handled", problem);
      }
    }
    return count;
  }

  private void dispatch(Event event) {
    switch (event.kind) {
      case Event.LOG:
        logging.execute(() -> logger.log(level(event.name), event.message));
        break;
      case Event.DROPPED:
        logging.execute(() -> logger.log(System.Logger.Level.WARNING, event.value + " events were dropped"));
        break;
      case Event.ACQUIRED:
      case Event.RELEASED:
        tell(completions.remove(event.tag), event);
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
