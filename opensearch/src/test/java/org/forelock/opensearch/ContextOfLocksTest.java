package org.forelock.opensearch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.forelock.search.Headers;
import org.forelock.search.LockContext;
import org.junit.jupiter.api.Test;
import org.opensearch.common.settings.Settings;
import org.opensearch.common.util.concurrent.ThreadContext;
import org.opensearch.common.util.concurrent.ThreadContext.StoredContext;

class ContextOfLocksTest {
  private final ThreadContext context = new ThreadContext(Settings.EMPTY);
  private final LockContext locks = new ContextOfLocks(context);

  @Test
  void whatFollowsOnAnotherThreadIsInTheContextOfItsCaller() throws InterruptedException {
    List<String> seen = new ArrayList<>();
    CompletableFuture<String> acquired = new CompletableFuture<>();
    try (StoredContext ignored = context.newStoredContext(true)) {
      context.putHeader("user", "Ann");
      acquired.whenComplete(locks.here((lock, problem) -> {
        try (LockContext.Scope scope = locks.under(lock)) {
          seen.add(context.getHeader("user") + ", " + Carrier.get(context, Headers.HELD_WITHIN));
        }
        seen.add(Carrier.get(context, Headers.HELD_WITHIN));
      }));
    }
    Thread library = new Thread(() -> {
      acquired.complete("P1=7");
      seen.add(context.getHeader("user"));
    });
    library.start();
    library.join();
    assertEquals("Ann, P1=7", seen.get(0));
    assertNull(seen.get(1), "the lock's scope has ended");
    assertNull(seen.get(2), "the thread has its own again");
  }

  @Test
  void aLockThatIsNoneIsRefused() {
    assertThrows(IllegalArgumentException.class, () -> locks.under("P1=x"));
  }
}
