package org.forelock.search;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.forelock.LockType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ClientFactoryTest {
  @TempDir
  Path folder;

  private ClientFactory factory(String file, Map<String, String> settings) throws IOException {
    Path configuration = Files.createDirectories(folder.resolve("forelock"));
    Files.writeString(configuration.resolve(ClientFactory.FILE), file);
    return new ClientFactory(settings, Map.of(), Map.of(), new Folders(folder, folder, folder));
  }

  @Test
  void durationsAreWhatTheLibraryTakesThemFor() throws IOException {
    Map<String, Long> durations = Map.of("0", 0L, "1500", 1500L, "1.5s", 1500L, "0.25m", 15_000L, "1.500000s", 1500L,
        "20ms", 20L, "2h", 7_200_000L, "0.5d", 43_200_000L);
    durations.forEach((text, millis) -> {
      Map<String, String> settings =
          Map.of("zookeeper.foreground.task.timeout", text, "zookeeper.lock.linger", text);
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
        Map<String, String> settings = Map.of("zookeeper." + ofNode + ".task.timeout", "8s");
        assertEquals(8000, factory(file, settings).timeoutMillis(LockType.FOREGROUND), inFile + ", " + ofNode);
        assertEquals(9000, factory(file, settings).timeoutMillis(LockType.BACKGROUND));
      }
      String file = "zookeeper." + inFile + ".task.timeout=7000";
      assertEquals(7000, factory(file, Map.of()).timeoutMillis(LockType.FOREGROUND));
      assertEquals(2000, factory(file, Map.of()).timeoutMillis(LockType.BACKGROUND), "the default");
    }
  }
}
