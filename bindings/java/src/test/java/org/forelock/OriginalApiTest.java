package org.forelock;

import static org.junit.jupiter.api.Assertions.*;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Code that was written for the locks before these runs as it is, but for its imports. */
class OriginalApiTest {
  private boolean saved;

  @AfterEach
  void forget() {
    ZooKeeperUtil.use(null);
  }

  private void save(String monitorObject)
      throws InstanceLockException, SessionExpiredException, ConnectionLossException, NoNodeException {
    ZooKeeper zk = ZooKeeperUtil.getZookeeper();

    ZkBlockingWriteLock writeCall;
    writeCall = new ZkBlockingWriteLock("Save Content", zk, monitorObject);

    writeCall.lockWithTimeout();
    saved = true;
    writeCall.unlock();
  }

  private void propagate(String monitorObject) throws InstanceLockException {
    ZooKeeper zk = ZooKeeperUtil.getZookeeper();
    ZkBlockingWriteLock writeCall = new ZkBlockingWriteLock("Propagate", zk, monitorObject, LockType.BACKGROUND);
    writeCall.lockWithTimeout();
    writeCall.unlock();
  }

  @Test
  void savesAndPropagates() {
    try (TestServer server = new TestServer(); ForelockClient client = server.client()) {
      ZooKeeperUtil.use(client);
      save("P1");
      assertTrue(saved);
      try (ZkBlockingWriteLock other = new ZkBlockingWriteLock("other", client, "P1", LockType.BACKGROUND)) {
        other.lockWithTimeout();
        saved = false;
        assertThrows(InstanceLockException.class, () -> save("P1"));
        assertFalse(saved);
        other.unlock();
      }
      propagate("P1");
    }
  }

  @Test
  void saysWhatIsMissingWithoutAClient() {
    String message = assertThrows(IllegalStateException.class, ZooKeeperUtil::getZookeeper).getMessage();
    assertEquals("the program has named no client: call ZooKeeperUtil.use(client) when it starts", message);
  }
}
