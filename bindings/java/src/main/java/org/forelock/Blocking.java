package org.forelock;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Supplier;

/** Native calls that block. For a virtual thread another thread makes them, so that it pins no carrier. */
final class Blocking {
  private static final MethodHandle IS_VIRTUAL = findIsVirtual();
  private static final ExecutorService HELPERS = Executors.newCachedThreadPool(task -> daemon(task, "forelock-call"));

  private Blocking() {}

  static Thread daemon(Runnable task, String name) {
    Thread thread = new Thread(null, task, name, 0, false);
    thread.setDaemon(true);
    thread.setContextClassLoader(null);
    return thread;
  }

  static <T> T call(Supplier<T> call) {
    if (!isVirtual()) {
      return call.get();
    }
    try {
      return CompletableFuture.supplyAsync(call, HELPERS).join();
    } catch (CompletionException problem) {
      if (problem.getCause() instanceof RuntimeException) {
        throw (RuntimeException) problem.getCause();
      }
      throw problem;
    }
  }

  static void run(Runnable call) {
    call(() -> {
      call.run();
      return null;
    });
  }

  static boolean isVirtual() {
    try {
      return IS_VIRTUAL != null && (boolean) IS_VIRTUAL.invokeExact(Thread.currentThread());
    } catch (Throwable impossible) {
      throw new AssertionError(impossible);
    }
  }

  private static MethodHandle findIsVirtual() {
    try {
      return MethodHandles.publicLookup()
          .findVirtual(Thread.class, "isVirtual", MethodType.methodType(boolean.class));
    } catch (ReflectiveOperationException older) {
      return null;
    }
  }
}
