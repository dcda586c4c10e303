package org.forelock;

import static org.junit.jupiter.api.Assertions.*;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The pieces of Java in the documentation compile as they stand. */
class DocumentationTest {
  private static final Pattern BLOCK = Pattern.compile("^```java\n(.*?)^```$", Pattern.MULTILINE | Pattern.DOTALL);

  @TempDir
  Path folder;

  @Test
  void everyPieceCompiles() throws Exception {
    int pieces = 0;
    for (String document : new String[] {"README.md", "../../README.md"}) {
      Matcher blocks = BLOCK.matcher(Files.readString(Path.of(document)));
      while (blocks.find()) {
        Path file = Files.createDirectory(folder.resolve("piece" + ++pieces)).resolve("Save.java");
        Files.writeString(file, blocks.group(1));
        StringWriter problems = new StringWriter();
        PrintWriter output = new PrintWriter(problems, true);
        int result = ToolProvider.findFirst("javac").orElseThrow().run(output, output, "--release", "11",
            "-encoding", "UTF-8", "-Xlint:all", "-cp", System.getProperty("forelock.classes"), "-d",
            folder.toString(), file.toString());
        assertEquals(0, result, document + ": " + problems);
      }
    }
    assertTrue(pieces >= 2, pieces + " pieces");
  }
}
