package org.forelock.opensearch;

import org.opensearch.ExceptionsHelper;
import org.opensearch.action.UnavailableShardsException;
import org.opensearch.node.NodeClosedException;
import org.opensearch.transport.ConnectTransportException;
import org.opensearch.transport.ReceiveTimeoutTransportException;
import org.opensearch.transport.RemoteTransportException;
import org.opensearch.transport.SendRequestTransportException;

/** Whether the problem of a write is the answer of its primary. */
final class PrimaryAnswer {
  private PrimaryAnswer() {}

  /** An answer ends the latest attempt, which has ended those before it if it came so far. */
  static boolean is(Exception problem) {
    return problem instanceof RemoteTransportException && !isMissing(problem);
  }

  /** Whether it is, as a node in between may have handed on, that the primary did not answer. */
  static boolean isMissing(Exception problem) {
    return ExceptionsHelper.unwrap(problem, ConnectTransportException.class, SendRequestTransportException.class,
        ReceiveTimeoutTransportException.class, NodeClosedException.class, UnavailableShardsException.class) != null;
  }
}
