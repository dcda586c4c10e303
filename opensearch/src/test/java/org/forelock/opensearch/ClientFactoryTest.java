package org.forelock.opensearch;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
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
  void durationsAreWhatTheLibraryTakesThemFor() throws IOException {
    Map<String, Long> durations = Map.of("0", 0L, "1500", 1500L, "1.5s", 1500L, "0.25m", 15_000L, "1.500000s", 1500L,
        "20ms", 20L, "2h", 7_200_000L, "0.5d", 43_200_000L);
    durations.forEach((text, millis) -> {
      Settings settings = Settings.builder().put("forelock.zookeeper.foreground.task.timeout", text)
          .put("forelock.zookeeper.lock.linger", text).build();
      ClientFactory factory = assertDoesNotThrow(() -> factory("", settings));
      assertEquals(millis, factory.timeoutMillis(LockType.FOREGROUND), text);
      assertEquals(millis > 0, factory.lingers(), text);
    });
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
