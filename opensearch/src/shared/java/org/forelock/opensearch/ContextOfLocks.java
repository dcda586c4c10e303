package org.forelock.opensearch;

import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.forelock.search.Headers;
import org.forelock.search.HeldTokens;
import org.forelock.search.LockContext;
import org.opensearch.common.util.concurrent.ThreadContext;
import org.opensearch.common.util.concurrent.ThreadContext.StoredContext;

/** The ContextOfLocks is the node's thread context, as far as other plugins need it. Thread-safe. */
final class ContextOfLocks implements LockContext {
  private final ThreadContext context;

  ContextOfLocks(ThreadContext context) {
    this.context = context;
  }

  @Override
  public Scope under(String held) {
    HeldTokens.parse(held); // or it is invalid
    StoredContext former = Carrier.with(context, Headers.HELD_WITHIN, held);
    return former::close;
  }

  @Override
  public <T> BiConsumer<T, Throwable> here(BiConsumer<T, Throwable> action) {
    Supplier<StoredContext> now = context.newRestorableContext(true);
    return (value, problem) -> {
      try (StoredContext ignored = now.get()) {
        action.accept(value, problem);
      }
    };
  }
}
