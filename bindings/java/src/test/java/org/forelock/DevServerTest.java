package org.forelock;

import static org.junit.jupiter.api.Assertions.*;

import org.forelock.testkit.DevServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The server that an application has for its own tests; here where the command is built with the package. */
@EnabledIfSystemProperty(named = DevServer.COMMAND, matches = ".+")
class DevServerTest {
  @RegisterExtension
  static final DevServer SERVER = new DevServer();

  @Test
  void locksAreTakenOnAServerOfOnesOwn() {
    try (ForelockClient client = ForelockClient.builder().servers(SERVER.servers()).build();
        ZkBlockingWriteLock lock = new ZkBlockingWriteLock("Save Content", client, "P1");
        ZkBlockingWriteLock other = new ZkBlockingWriteLock("Bulk", client, "P1", LockType.BACKGROUND)) {
      lock.lock();
      assertFalse(other.tryLock());
      lock.unlock();
      assertTrue(other.tryLock());
    }
  }
}
