package org.forelock;

import static org.junit.jupiter.api.Assertions.*;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How the native library gets out of the jar, and what is said when it cannot. */
class LoadingTest {
  private static final Path CLASSES = Path.of(System.getProperty("forelock.classes"));
  private static final String PLATFORM = "linux-" + System.getProperty("os.arch");

  @TempDir
  Path folder;

  /** Loads the library in a JVM of its own and prints its version. */
  public static final class Probe {
    public static void main(String[] arguments) {
      System.out.println(ForelockClient.version());
    }
  }

  @Test
  void twoClassLoadersHaveALibraryEach() throws Exception {
    URL[] classes = {CLASSES.toUri().toURL()};
    try (URLClassLoader first = new URLClassLoader(classes, null);
        URLClassLoader second = new URLClassLoader(classes, null)) {
      Class<?> one = first.loadClass("org.forelock.ForelockClient");
      Class<?> other = second.loadClass("org.forelock.ForelockClient");
      assertNotSame(one, other);
      assertEquals(one.getMethod("version").invoke(null), other.getMethod("version").invoke(null));
    }
  }

  /** A client and a lock in the class loader of this class: whether the lock was free; what it obtains it keeps. */
  public static final class Section implements Callable<Boolean>, AutoCloseable {
    private final ForelockClient client;
    private final ZkBlockingWriteLock lock;

    public Section(String address) {
      client = ForelockClient.builder().servers(address).build();
      client.waitConnected(Duration.ofSeconds(30));
      lock = new ZkBlockingWriteLock("case", client, "shared");
    }

    @Override
    public Boolean call() {
      return lock.tryLock();
    }

    @Override
    public void close() {
      if (lock.isHealthy()) {
        lock.unlock();
      }
      client.close();
    }
  }

  @Test
  void clientsOfTwoClassLoadersExcludeOneAnother() throws Exception {
    URL[] classes = {CLASSES.toUri().toURL(), tests().toUri().toURL()};
    try (TestServer server = new TestServer(); URLClassLoader one = new URLClassLoader(classes, null);
        URLClassLoader other = new URLClassLoader(classes, null)) {
      Object first = one.loadClass(Section.class.getName()).getConstructor(String.class).newInstance(server.address());
      Object second =
          other.loadClass(Section.class.getName()).getConstructor(String.class).newInstance(server.address());
      assertNotSame(first.getClass(), second.getClass());
      assertEquals(true, ((Callable<?>) first).call());
      assertEquals(false, ((Callable<?>) second).call());
      ((AutoCloseable) first).close();
      assertEquals(true, ((Callable<?>) second).call());
      ((AutoCloseable) second).close();
    }
  }

  /** Loads the library in two class loaders of a JVM of its own. */
  public static final class TwoLoaders {
    public static void main(String[] arguments) throws Exception {
      URL[] classes = {Path.of(arguments[0]).toUri().toURL()};
      for (int i = 0; i < 2; ++i) {
        Class<?> client = new URLClassLoader(classes, null).loadClass("org.forelock.ForelockClient");
        System.out.println(client.getMethod("version").invoke(null));
      }
    }
  }

  @Test
  void aGivenLibraryIsForOneClassLoaderAndTheOtherIsToldWhatToDo() throws Exception {
    Path packed = packed();
    Assumptions.assumeTrue(Files.exists(packed), "another platform");
    List<String> command = command("-Dforelock.native.library=" + packed);
    command.set(command.size() - 1, TwoLoaders.class.getName());
    command.add(CLASSES.toString());
    String said = output(command);
    assertTrue(said.lines().anyMatch(line -> line.startsWith("0.")), said);
    assertTrue(said.contains("without -Dforelock.native.library"), said);
  }

  /** As a search engine's plugins have them: each its folder with the jar and, beside it, the library. */
  @Test
  void jarsWithTheirLibraryBesideThemHaveOneEach() throws Exception {
    Path packed = packed();
    Assumptions.assumeTrue(Files.exists(packed), "another platform");
    for (String plugin : List.of("one plugin", "other")) {
      Path place = Files.createDirectories(folder.resolve(plugin));
      Files.copy(packed, place.resolve("libforelock_jni.so"));
      jarWithoutLibrary(place.resolve("forelock.jar"));
      URL[] jar = {place.resolve("forelock.jar").toUri().toURL()};
      try (URLClassLoader loader = new URLClassLoader(jar, null)) {
        Object version = loader.loadClass("org.forelock.ForelockClient").getMethod("version").invoke(null);
        assertEquals(ForelockClient.version(), version);
      }
    }
  }

  /** As Debian has them: a jar without the library, which is where the JVM looks for libraries of the system. */
  @Test
  void aLibraryOfTheSystemServesEveryClassLoader() throws Exception {
    Path packed = packed();
    Assumptions.assumeTrue(Files.exists(packed), "another platform");
    Path system = Files.createDirectories(folder.resolve("system"));
    Files.copy(packed, system.resolve("libforelock_jni.so"));
    Path jar = folder.resolve("forelock.jar");
    jarWithoutLibrary(jar);
    List<String> command = command("-Djava.library.path=/nonexistent:" + system);
    command.set(command.size() - 1, TwoLoaders.class.getName());
    command.add(jar.toString());
    String version = ForelockClient.version() + "\n";
    assertEquals(version + version, output(command));
  }

  /** As in a zip for several architectures: what lies beside the jar is of one, its folders have the others. */
  @Test
  void aFolderForThePlatformIsPreferredToTheJarsOwn() throws Exception {
    Path packed = packed();
    Assumptions.assumeTrue(Files.exists(packed), "another platform");
    Path jar = folder.resolve("forelock.jar");
    jarWithoutLibrary(jar);
    Path others = Files.write(folder.resolve("libforelock_jni_dlq.so"), ofAnotherMachine(packed));
    String said = outputOf(jar);
    assertTrue(said.contains(others + " is not a native library for " + PLATFORM), said);
    assertTrue(said.contains("-Dforelock.native.library="), said);
    Files.copy(packed, Files.createDirectories(folder.resolve(PLATFORM)).resolve("libforelock_jni.so"));
    assertVersion(outputOf(jar));
    said = outputOf(jar, "-Dos.arch=riscv64");
    assertTrue(said.contains(others + " is not a native library for linux-riscv64"), said);
    Files.delete(others);
    said = outputOf(jar, "-Dos.arch=riscv64");
    assertTrue(said.contains("no native library for linux-riscv64, only for " + PLATFORM + ";"), said);
  }

  @Test
  void aLibraryOfAnotherArchitectureIsNamed() throws Exception {
    Path packed = packed();
    Assumptions.assumeTrue(Files.exists(packed), "another platform");
    Path other = Files.write(folder.resolve("other.so"), ofAnotherMachine(packed));
    String said = probe("-Dforelock.native.library=" + other);
    assertTrue(said.contains(other + " is not a native library for " + PLATFORM), said);
  }

  /** The library with the number of another architecture in its ELF header. */
  private static byte[] ofAnotherMachine(Path library) throws IOException {
    byte[] bytes = Files.readAllBytes(library);
    bytes[18] ^= (byte) (62 ^ 183); // x86-64 and AArch64
    return bytes;
  }

  private static Path packed() {
    return CLASSES.resolve("org/forelock/native/" + PLATFORM + "/libforelock_jni.so");
  }

  private static void jarWithoutLibrary(Path file) throws IOException {
    try (JarOutputStream jar = new JarOutputStream(Files.newOutputStream(file));
        Stream<Path> classes = Files.walk(CLASSES)) {
      for (Path one : (Iterable<Path>) classes.filter(path -> path.toString().endsWith(".class"))::iterator) {
        jar.putNextEntry(new JarEntry(CLASSES.relativize(one).toString()));
        Files.copy(one, jar);
      }
    }
  }

  @Test
  void nothingIsLeftInTheFolder() throws Exception {
    assertVersion(probe("-Dforelock.native.dir=" + folder));
    try (Stream<Path> left = Files.list(folder)) {
      assertEquals(0, left.count());
    }
  }

  @Test
  void aGivenLibraryIsLoadedWithoutTheFolder() throws Exception {
    Path library = folder.resolve("given.so");
    Path packed = packed();
    Assumptions.assumeTrue(Files.exists(packed), "another platform");
    Files.copy(packed, library);
    assertVersion(probe("-Dforelock.native.library=" + library, "-Dforelock.native.dir=/does/not/exist"));
  }

  @Test
  void aSystemThatIsTooOldIsToldWhichOnesAreNot() throws Exception {
    Path packed = packed();
    Assumptions.assumeTrue(Files.exists(packed), "another platform");
    // ISO-8859-1 gives each byte a character, and takes it back.
    String bytes = Files.readString(packed, StandardCharsets.ISO_8859_1);
    String newer = bytes.replace("GLIBC_2.34", "GLIBC_9.34");
    assertNotEquals(bytes, newer);
    Path library = Files.writeString(folder.resolve("newer.so"), newer, StandardCharsets.ISO_8859_1);
    String said = probe("-Dforelock.native.library=" + library);
    assertTrue(said.contains("glibc 2.31") && said.contains("Ubuntu 20.04") && said.contains("GLIBC_9.34"), said);
  }

  @Test
  void aFolderThatCannotBeWrittenIsNamedWithItsProperty() throws Exception {
    String said = probe("-Dforelock.native.dir=/proc/self");
    assertTrue(said.contains("UnsatisfiedLinkError"), said);
    assertTrue(said.contains("/proc/self") && said.contains("-Dforelock.native.dir="), said);
  }

  @Test
  void aFolderThatForbidsProgramsIsNamedWithItsProperty() throws Exception {
    // A file system of its own, in name spaces of its own.
    List<String> mounted = new ArrayList<>(List.of(
        "unshare", "-rm", "sh", "-c", "mount -t tmpfs -o noexec none \"$0\" && exec \"$@\"", folder.toString()));
    List<String> attempt = new ArrayList<>(mounted);
    attempt.addAll(List.of("echo", "mounted"));
    Assumptions.assumeTrue(output(attempt).startsWith("mounted"), "nothing can be mounted here");
    mounted.addAll(command("-Dforelock.native.dir=" + folder));
    String said = output(mounted);
    assertTrue(said.contains("noexec") && said.contains("-Dforelock.native.dir="), said);
  }

  @Test
  void aJarInAFolderThatCannotBeWrittenLoads() throws Exception {
    Path jar = folder.resolve("forelock.jar");
    try (java.util.jar.JarOutputStream out = new java.util.jar.JarOutputStream(Files.newOutputStream(jar));
        Stream<Path> files = Files.walk(CLASSES)) {
      for (Path file : (Iterable<Path>) files.filter(Files::isRegularFile)::iterator) {
        out.putNextEntry(new java.util.zip.ZipEntry(CLASSES.relativize(file).toString()));
        Files.copy(file, out);
        out.closeEntry();
      }
    }
    assertTrue(folder.toFile().setWritable(false));
    try {
      assertVersion(outputOf(jar));
    } finally {
      assertTrue(folder.toFile().setWritable(true));
    }
  }

  /** Opens a dead-letter queue in a JVM of its own, and prints what that ends with. */
  public static final class Queue {
    public static void main(String[] arguments) {
      try (DeadLetterQueue queue = new DeadLetterQueue(new java.util.Properties())) {
        System.out.println("opened");
      } catch (ForelockException problem) {
        System.out.println(problem);
      }
    }
  }

  @Test
  void aLibraryWithoutDeadLettersSaysWhichOneIsMissing() throws Exception {
    Path packed = packed();
    Assumptions.assumeTrue(Files.exists(packed), "another platform");
    List<String> command = command("-Dforelock.native.library=" + packed);
    command.set(command.size() - 1, Queue.class.getName());
    String said = output(command);
    assertTrue(said.contains(packed.toString()) && said.contains("libforelock_jni_dlq.so"), said);

    command = command();
    command.set(command.size() - 1, Queue.class.getName());
    said = outputWithout("libforelock_jni_dlq.so", command);
    assertTrue(said.contains("the jar has no libforelock_jni_dlq.so") && said.contains("target"), said);
  }

  @Test
  void aJarWithoutALibraryForThisPlatformSaysSo() throws Exception {
    String said = probe("-Dos.name=Mac OS X", "-Dos.arch=aarch64");
    assertTrue(said.contains("no native library for mac os x-aarch64, only for linux-"), said);
    assertTrue(outputWithout(".so", command()).contains("was built without its native library"));
  }

  @Test
  void anArchitectureHasSeveralNames() throws Exception {
    Assumptions.assumeTrue(PLATFORM.equals("linux-amd64"), "another platform");
    assertVersion(probe("-Dos.arch=x86_64"));
  }

  /** Of a command without the files of the package whose names end so. */
  private String outputWithout(String ending, List<String> command) throws Exception {
    Path classes = folder.resolve("classes");
    try (Stream<Path> files = Files.walk(CLASSES)) {
      for (Path file : (Iterable<Path>) files.filter(name -> !name.toString().endsWith(ending))::iterator) {
        Files.copy(file, classes.resolve(CLASSES.relativize(file).toString()));
      }
    }
    int path = command.indexOf("-cp") + 1;
    command.set(path, command.get(path).replace(CLASSES.toString(), classes.toString()));
    return output(command);
  }

  /** The probe with this jar in place of the classes. */
  private static String outputOf(Path jar, String... options) throws Exception {
    List<String> command = command(options);
    int path = command.indexOf("-cp") + 1;
    command.set(path, command.get(path).replace(CLASSES.toString(), jar.toString()));
    return output(command);
  }

  private static void assertVersion(String output) {
    assertTrue(output.lines().reduce((first, last) -> last).orElse("").startsWith("0."), output);
  }

  private static String probe(String... options) throws Exception {
    return output(command(options));
  }

  private static List<String> command(String... options) throws Exception {
    List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
    command.addAll(List.of(options));
    command.addAll(List.of("-cp", CLASSES + ":" + tests(), Probe.class.getName()));
    return command;
  }

  private static Path tests() throws Exception {
    return Path.of(LoadingTest.class.getProtectionDomain().getCodeSource().getLocation().toURI());
  }

  private static String output(List<String> command) throws Exception {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    process.waitFor();
    return output;
  }
}
