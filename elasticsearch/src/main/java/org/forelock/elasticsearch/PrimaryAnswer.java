package org.forelock.elasticsearch;

import org.elasticsearch.ExceptionsHelper;
import org.elasticsearch.action.UnavailableShardsException;
import org.elasticsearch.node.NodeClosedException;
import org.elasticsearch.transport.ConnectTransportException;
import org.elasticsearch.transport.ReceiveTimeoutTransportException;
import org.elasticsearch.transport.RemoteTransportException;
import org.elasticsearch.transport.SendRequestTransportException;

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
