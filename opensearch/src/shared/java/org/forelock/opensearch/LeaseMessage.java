package org.forelock.opensearch;

import java.io.IOException;
import java.util.Map;
import org.opensearch.action.ActionRequest;
import org.opensearch.action.ActionRequestValidationException;
import org.opensearch.core.common.io.stream.StreamInput;
import org.opensearch.core.common.io.stream.StreamOutput;
import org.opensearch.core.tasks.TaskId;
import org.opensearch.tasks.CancellableTask;
import org.opensearch.tasks.Task;

/** A client's wish to hold locks, as it was sent; it is cancelled when the client goes. */
final class LeaseMessage extends ActionRequest {
  final Map<String, Object> body;

  LeaseMessage(Map<String, Object> body) {
    this.body = body;
  }

  @SuppressWarnings("unchecked")
  LeaseMessage(StreamInput in) throws IOException {
    super(in);
    body = (Map<String, Object>) in.readGenericValue();
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    super.writeTo(out);
    out.writeGenericValue(body);
  }

  @Override
  public ActionRequestValidationException validate() {
    return null;
  }

  @Override
  public Task createTask(long id, String type, String action, TaskId parent, Map<String, String> headers) {
    return new Waiting(id, type, action, parent, headers);
  }

  /** Ends the wait when it is cancelled, also if that comes before there is one. Thread-safe. */
  static final class Waiting extends CancellableTask {
    private Runnable gone;

    Waiting(long id, String type, String action, TaskId parent, Map<String, String> headers) {
      super(id, type, action, "waits for locks", parent, headers);
    }

    @Override
    public boolean shouldCancelChildrenOnCancellation() {
      return true;
    }

    /** To be called once. */
    void whenCancelled(Runnable task) {
      synchronized (this) {
        gone = task;
      }
      if (isCancelled()) {
        onCancelled();
      }
    }

    @Override
    protected void onCancelled() {
      Runnable task;
      synchronized (this) {
        task = gone;
        gone = null;
      }
      if (task != null) {
        task.run();
      }
    }
  }
}
