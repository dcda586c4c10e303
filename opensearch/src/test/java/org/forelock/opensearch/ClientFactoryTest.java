package org.forelock.opensearch;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.forelock.LockType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opensearch.common.settings.Settings;

class ClientFactoryTest {
  @TempDir
  Path folder;

  private ClientFactory factory(String file, Settings settings) throws IOException {
    Path configuration = Files.createDirectories(folder.resolve("forelock"));
    Files.writeString(configuration.resolve(ClientFactory.FILE), file);
    return new ClientFactory(settings, new Folders(folder, folder, folder, folder));
  }

  @Test
  void theNodesTimeoutsGoOverTheFilesInEitherSpelling() throws IOException {
    for (String inFile : new String[] {"foregound", "foreground"}) {
      for (String ofNode : new String[] {"foregound", "foreground"}) {
        String file = "zookeeper." + inFile + ".task.timeout=7000\nzookeeper.background.task.timeout=9000\n";
        Settings settings =
            Settings.builder().put("forelock.zookeeper." + ofNode + ".task.timeout", "8s").build();
        assertEquals(8000, factory(file, settings).timeoutMillis(LockType.FOREGROUND), inFile + ", " + ofNode);
        assertEquals(9000, factory(file, settings).timeoutMillis(LockType.BACKGROUND));
      }
      String file = "zookeeper." + inFile + ".task.timeout=7000";
      assertEquals(7000, factory(file, Settings.EMPTY).timeoutMillis(LockType.FOREGROUND));
      assertEquals(2000, factory(file, Settings.EMPTY).timeoutMillis(LockType.BACKGROUND), "the default");
    }
  }
}
