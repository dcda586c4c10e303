package org.forelock;

import static org.junit.jupiter.api.Assertions.*;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Locks with SASL, with and without TLS. A build without SASL refuses the settings, and says how to get it. */
class SaslTest {
  private static ForelockClient client(ForelockClient.Builder settings) {
    try {
      return settings.build();
    } catch (ConfigurationException refused) {
      assumeFalse(refused.getMessage().contains("this build has no SASL"), refused.getMessage());
      throw refused;
    }
  }

  private static ForelockClient.Builder settings(String servers, String key, String value) {
    return ForelockClient.builder().servers(servers).set("zookeeper.foregound.task.timeout", "60000")
        .set("zookeeper.sasl.mechanism", "DIGEST-MD5").set("zookeeper.sasl.user", "alice")
        .set("zookeeper.sasl.password" + key, value);
  }

  @Test
  void locksWithSasl() throws Exception {
    try (TestServer server = new TestServer(List.of("sasl"))) {
      String[] words = server.address().split(" ");
      // Secrets that the program has itself, and in files.
      String password = Files.readString(Path.of(words[5])).trim();
      ForelockClient.Builder tls = settings(words[1], "", password).set("zookeeper.tls.ca.file", words[2])
          .set("zookeeper.tls.certificate.file", words[3])
          .set("zookeeper.tls.key", Files.readString(Path.of(words[4])));
      for (ForelockClient.Builder settings : List.of(settings(words[0], ".file", words[5]), tls)) {
        try (ForelockClient client = client(settings);
            ZkBlockingWriteLock lock = new ZkBlockingWriteLock("test", client, "P1")) {
          lock.lock();
          assertTrue(lock.isHealthy());
          lock.unlock();
        }
      }
      try (ForelockClient client = client(settings(words[0], ".file", words[6]));
          ZkBlockingWriteLock lock = new ZkBlockingWriteLock("test", client, "P1")) {
        ForelockException refused = assertThrows(ForelockException.class, lock::lockWithTimeout);
        assertEquals(ErrorCode.NOT_AUTHORIZED, refused.code(), refused.getMessage());
        assertTrue(refused.getMessage().contains("refuses this client's credentials"), refused.getMessage());
        assertFalse(refused.getMessage().contains("hunter2"));
      }
    }
  }
}
