package org.forelock.search;

import java.util.List;
import org.forelock.DeadLetterQueue;
import org.forelock.FailedAttempt;
import org.forelock.ForelockClient;
import org.forelock.LockType;
import org.forelock.Operation;

/** NodeLetters are the node's dead-letter queue. Thread-safe. */
public final class NodeLetters implements Letters, AutoCloseable {
  private final String type;
  private final ForelockClient client;
  private final DeadLetterQueue queue;
  private final int retries;

  /** @param type of the letters */
  public NodeLetters(String type, ForelockClient client, DeadLetterQueue queue, int retries) {
    this.type = type;
    this.client = client;
    this.queue = queue;
    this.retries = retries;
  }

  @Override
  public int retries() {
    return retries;
  }

  @Override
  public String put(String monitor, String info, byte[] payload, List<FailedAttempt> attempts) {
    Operation operation =
        new Operation(type, monitor, LockType.BACKGROUND).lockInfo(info).payload(payload);
    return LockService.privileged(() -> queue.accept(client, operation, attempts, retries + 1));
  }

  @Override
  public void close() {
    LockService.privileged(() -> {
      queue.close();
      return null;
    });
  }
}
