package org.forelock.search;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NodeThreadsTest {
  private static Thread named(String name) {
    return new Thread(null, () -> {}, name);
  }

  @ParameterizedTest
  @ValueSource(strings = {"opensearch[node1][transport_worker][T#1]", "elasticsearch[node1][transport_worker][T#12]",
      "elasticsearch[node[1]][write][T#2]", "opensearch[node1][system_write][T#1]",
      "opensearch[node1][http_server_worker][T#3]", "opensearch[node1][clusterApplierService#updateTask][T#1]",
      "elasticsearch[node1][masterService#updateTask][T#1]", "opensearch[n][clusterManagerService#updateTask][T#1]"})
  void whatServesAllRequests(String name) {
    assertTrue(NodeThreads.serves(named(name)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"opensearch[node1][generic][T#4]", "opensearch[write][generic][T#4]", "main", "write",
      "elasticsearch[node1][management][T#1]", "elasticsearch[node1][scheduler][T#1]", "forelock-async"})
  void whatMayWait(String name) {
    assertFalse(NodeThreads.serves(named(name)));
  }
}
