package org.forelock.opensearch;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.opensearch.Version;
import org.opensearch.action.UnavailableShardsException;
import org.opensearch.cluster.node.DiscoveryNode;
import org.opensearch.core.common.transport.TransportAddress;
import org.opensearch.core.index.shard.ShardId;
import org.opensearch.node.NodeClosedException;
import org.opensearch.transport.NodeDisconnectedException;
import org.opensearch.transport.NodeNotConnectedException;
import org.opensearch.transport.RemoteTransportException;

class PrimaryAnswerTest {
  private static Exception from(Exception problem) {
    return new RemoteTransportException("node", problem);
  }

  @Test
  void whatAnotherNodeSaysIsOne() {
    assertTrue(PrimaryAnswer.is(from(new IllegalStateException())));
    assertFalse(PrimaryAnswer.is(new IllegalStateException("the connection is gone")));
  }

  @Test
  void aNodeInBetweenMayNotKnowEither() {
    DiscoveryNode node = new DiscoveryNode("node", new TransportAddress(TransportAddress.META_ADDRESS, 1),
        Version.CURRENT);
    for (Exception unknown : List.of(new NodeDisconnectedException(node, "write"), new NodeNotConnectedException(node,
        "gone"), new NodeClosedException(node),
        new UnavailableShardsException(new ShardId("articles", "uuid", 0), "none"))) {
      assertFalse(PrimaryAnswer.is(from(unknown)), unknown.toString());
      assertFalse(PrimaryAnswer.is(from(from(unknown))), unknown.toString());
      assertTrue(PrimaryAnswer.isMissing(from(from(unknown))), unknown.toString());
    }
  }
}
