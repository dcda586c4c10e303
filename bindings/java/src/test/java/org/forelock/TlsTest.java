package org.forelock;

import static org.junit.jupiter.api.Assertions.*;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Locks over mutual TLS. A build without TLS refuses the settings, and says how to get it. */
class TlsTest {
  private static ForelockClient client(ForelockClient.Builder settings) {
    try {
      return settings.build();
    } catch (ConfigurationException refused) {
      assumeFalse(refused.getMessage().contains("this build cannot speak TLS"), refused.getMessage());
      throw refused;
    }
  }

  @Test
  void locksOverMutualTls() throws Exception {
    try (TestServer server = new TestServer(List.of("tls"))) {
      String[] words = server.address().split(" ");
      ForelockClient.Builder settings = ForelockClient.builder().servers(words[0])
          .set("zookeeper.foregound.task.timeout", "60000").set("zookeeper.tls.ca.file", words[1]);
      settings.set("zookeeper.tls.certificate.file", words[2]).set("zookeeper.tls.key.file", words[3]);
      try (ForelockClient client = client(settings);
          ZkBlockingWriteLock lock = new ZkBlockingWriteLock("test", client, "P1")) {
        lock.lock();
        assertTrue(lock.isHealthy());
        lock.unlock();
      }
      settings.set("zookeeper.tls.server.names", "zk1.example").set("zookeeper.foregound.task.timeout", "2000");
      try (ForelockClient client = client(settings);
          ZkBlockingWriteLock lock = new ZkBlockingWriteLock("test", client, "P1")) {
        ForelockException refused = assertThrows(ForelockException.class, lock::lockWithTimeout);
        assertTrue(refused.getMessage().contains("not for zk1.example"), refused.getMessage());
      }
    }
  }
}
