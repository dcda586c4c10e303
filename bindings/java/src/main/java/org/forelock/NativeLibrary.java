package org.forelock;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.CodeSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * Finds and loads the native library of this machine's architecture: from {@code forelock.native.library}, from beside
 * the jar, or out of the jar through a private folder that is removed once it is loaded; or, where the jar has none,
 * from the system, where Debian packages install it.
 */
final class NativeLibrary {
  /** The library to load, by its absolute path. */
  static final String LIBRARY = "forelock.native.library";
  /** The folder in which the library is unpacked; the JVM's temporary folder by default. */
  static final String FOLDER = "forelock.native.dir";

  private static final String[] NAMES = {"libforelock_jni_dlq.so", "libforelock_jni.so"};
  /** Platforms for which there may be libraries, by the names of their folders. */
  private static final String[] PLATFORMS = {"linux-amd64", "linux-aarch64"};

  /** The reason why the loaded library may have no dead-letter queue, and the next step. */
  private static String noQueue = "";
  private static String noQueueHint = "";

  private NativeLibrary() {}

  /** The exception of an object that needs the part of the library that was not loaded. */
  static RequestRejectedException withoutDeadLetters() {
    return new RequestRejectedException(
        ErrorCode.KAFKA_UNAVAILABLE, "", "there is no dead-letter queue: " + noQueue, noQueueHint);
  }

  static void load() {
    String chosen = System.getProperty(LIBRARY);
    if (chosen != null) {
      noQueue = chosen + ", which -D" + LIBRARY + " names, is a library without it";
      noQueueHint = "name libforelock_jni_dlq.so";
      loadChosen(Paths.get(chosen).toAbsolutePath());
      return;
    }
    // The first one needs Kafka's client on this machine; without it all works but the dead-letter queue.
    noQueue = "the jar has no " + NAMES[0];
    noQueueHint = "build the target forelock_jni_dlq before the jar";
    UnsatisfiedLinkError problem = null;
    for (String name : NAMES) {
      try {
        if (loadFromBeside(name) || loadFromJar(name)) {
          return;
        }
      } catch (UnsatisfiedLinkError error) {
        if (!isMissingKafka(error)) {
          throw error;
        }
        noQueue = "the library librdkafka.so.1 is not installed on this machine";
        noQueueHint = "install it (Debian: librdkafka1)";
        problem = error;
      }
    }
    if (problem == null && loadFromSystem()) {
      return;
    }
    throw problem != null ? problem : missing();
  }

  private static boolean isMissingKafka(UnsatisfiedLinkError error) {
    return String.valueOf(error.getMessage()).contains("librdkafka");
  }

  /** The dynamic linker says: version `GLIBC_2.34' not found. */
  private static boolean needsNewerSystem(UnsatisfiedLinkError error) {
    String message = String.valueOf(error.getMessage());
    return message.contains("version `GLIBC_") && message.contains("not found");
  }

  private static UnsatisfiedLinkError tooOld(UnsatisfiedLinkError problem) {
    UnsatisfiedLinkError error = new UnsatisfiedLinkError(
        "this system's C library is too old for the native library, which needs glibc 2.31 or later: that of "
            + "Debian 11, Ubuntu 20.04, Red Hat Enterprise Linux 9, Amazon Linux 2023, or newer ("
            + problem.getMessage() + ")");
    error.initCause(problem);
    return error;
  }

  private static UnsatisfiedLinkError missing() {
    String carried = carried();
    String problem = carried.isEmpty() ? "the jar was built without its native library"
        : "there is no native library for " + platform() + ", only for " + carried;
    return new UnsatisfiedLinkError(problem + "; name one with -D" + LIBRARY + "=/path/to/the/library");
  }

  /** The platforms for which the jar, or its folder, has libraries. */
  private static String carried() {
    List<String> carried = new ArrayList<>();
    for (String platform : PLATFORMS) {
      // Both are built, or the second one alone.
      Path beside = beside(platform + "/" + NAMES[1]);
      if (NativeLibrary.class.getResource(packed(platform, NAMES[1])) != null
          || beside != null && Files.isRegularFile(beside)) {
        carried.add(platform);
      }
    }
    return String.join(" and ", carried);
  }

  /** The platform's name; JVMs and other programs name one architecture differently. */
  private static String platform() {
    String architecture = System.getProperty("os.arch");
    String named = architecture.equals("x86_64") ? "amd64" : architecture.equals("arm64") ? "aarch64" : architecture;
    return System.getProperty("os.name").toLowerCase(Locale.ROOT) + "-" + named;
  }

  private static String packed(String platform, String name) {
    return "/org/forelock/native/" + platform + "/" + name;
  }

  /** A file in the jar's folder; null where it has none. */
  private static Path beside(String name) {
    CodeSource jar = NativeLibrary.class.getProtectionDomain().getCodeSource();
    if (jar == null || jar.getLocation() == null || !jar.getLocation().getProtocol().equals("file")) {
      return null;
    }
    return Paths.get(URI.create(jar.getLocation().toString())).resolveSibling(name);
  }

  /** For a plugin's folder, whose jar no other class loader has; a folder for the platform comes first. */
  private static boolean loadFromBeside(String name) {
    Path folder = beside(platform());
    Path file = folder != null && Files.isDirectory(folder) ? folder.resolve(name) : beside(name);
    if (file == null || !Files.isRegularFile(file)) {
      return false;
    }
    loadChosen(file);
    return true;
  }

  /** For a second class loader it loads a copy: a JVM loads no file twice. */
  private static boolean loadFromSystem() {
    for (String folder : System.getProperty("java.library.path", "").split(":")) {
      for (String name : NAMES) {
        Path file = Paths.get(folder, name).toAbsolutePath();
        if (!folder.isEmpty() && Files.isRegularFile(file)) {
          noQueue = file + " is a library without it";
          noQueueHint = "install " + NAMES[0];
          try {
            System.load(file.toString());
          } catch (UnsatisfiedLinkError problem) {
            if (!isOfAnotherClassLoader(problem)) {
              throw isOfAnotherArchitecture(problem) ? foreign(file, problem) : problem;
            }
            loadCopy(name, () -> Files.newInputStream(file));
          }
          return true;
        }
      }
    }
    return false;
  }

  private static boolean loadFromJar(String name) {
    return loadCopy(name, () -> NativeLibrary.class.getResourceAsStream(packed(platform(), name)));
  }

  /** Provides the bytes of the library; null where there are none. */
  private interface Source {
    InputStream open() throws IOException;
  }

  private static boolean loadCopy(String name, Source source) {
    Path folder = null;
    try (InputStream in = source.open()) {
      if (in == null) {
        return false;
      }
      Path parent = Paths.get(System.getProperty(FOLDER, System.getProperty("java.io.tmpdir")));
      folder = Files.createTempDirectory(
          parent, "forelock-", PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
      Path file = folder.resolve(name);
      Files.copy(in, file, StandardCopyOption.REPLACE_EXISTING);
      loadFile(file, parent);
      return true;
    } catch (IOException problem) {
      throw failed("the native library cannot be unpacked into "
          + System.getProperty(FOLDER, System.getProperty("java.io.tmpdir")) + " (" + problem + ")", problem);
    } finally {
      remove(folder, name);
    }
  }

  private static void loadChosen(Path file) {
    try {
      System.load(file.toString());
    } catch (UnsatisfiedLinkError problem) {
      if (needsNewerSystem(problem)) {
        throw tooOld(problem);
      }
      if (isOfAnotherArchitecture(problem)) {
        throw foreign(file, problem);
      }
      throw isOfAnotherClassLoader(problem) ? taken(file, problem) : problem;
    }
  }

  /** The JVM says: cannot open shared object file: No such file … (Possible cause: can't load … .so on a … platform) */
  private static boolean isOfAnotherArchitecture(UnsatisfiedLinkError error) {
    return String.valueOf(error.getMessage()).contains("(Possible cause: ");
  }

  private static UnsatisfiedLinkError foreign(Path file, UnsatisfiedLinkError problem) {
    UnsatisfiedLinkError error = new UnsatisfiedLinkError(file + " is not a native library for " + platform()
        + "; name one with -D" + LIBRARY + "=/path/to/the/library (" + problem.getMessage() + ")");
    error.initCause(problem);
    return error;
  }

  /** The JVM says: Native Library … already loaded in another classloader. */
  private static boolean isOfAnotherClassLoader(UnsatisfiedLinkError error) {
    return String.valueOf(error.getMessage()).contains("already loaded in another classloader");
  }

  private static UnsatisfiedLinkError taken(Path file, UnsatisfiedLinkError problem) {
    UnsatisfiedLinkError error = new UnsatisfiedLinkError("another class loader of this JVM has loaded " + file
        + ", and a file can be loaded by one alone; start the JVM without -D" + LIBRARY
        + ", then each class loader unpacks a file of its own, or have one class loader for all who use the package");
    error.initCause(problem);
    return error;
  }

  private static void loadFile(Path file, Path parent) {
    try {
      System.load(file.toAbsolutePath().toString());
    } catch (UnsatisfiedLinkError problem) {
      if (isMissingKafka(problem)) {
        throw problem;
      }
      if (needsNewerSystem(problem)) {
        throw tooOld(problem);
      }
      throw failed("the native library cannot be loaded from " + parent + ", which may forbid programs (noexec): "
          + problem.getMessage(), problem);
    }
  }

  private static UnsatisfiedLinkError failed(String what, Throwable cause) {
    UnsatisfiedLinkError error = new UnsatisfiedLinkError(
        what + "; name another folder with -D" + FOLDER + "=FOLDER, or the library itself with -D" + LIBRARY + "=FILE");
    error.initCause(cause);
    return error;
  }

  // A loaded library no longer needs its file.
  private static void remove(Path folder, String name) {
    if (folder == null) {
      return;
    }
    try {
      Files.deleteIfExists(folder.resolve(name));
      Files.deleteIfExists(folder);
    } catch (IOException problem) {
      System.getLogger("org.forelock").log(System.Logger.Level.DEBUG, "left behind: " + folder, problem);
    }
  }

  /**
   * Converts a text for the native library.
   *
   * @throws RequestRejectedException (INVALID_ARGUMENT) if it contains the character 0, or half of a surrogate pair:
   *     replacing it would make two ids one
   */
  static byte[] utf8(String text) {
    if (text.indexOf(0) >= 0) {
      throw new RequestRejectedException(ErrorCode.INVALID_ARGUMENT, "", "a text contains the character 0", "");
    }
    try {
      ByteBuffer bytes = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
      return Arrays.copyOf(bytes.array(), bytes.limit());
    } catch (CharacterCodingException problem) {
      throw new RequestRejectedException(
          ErrorCode.INVALID_ARGUMENT, "", "a text contains half of a surrogate pair, which is no character", "");
    }
  }

  /** The same for a text that is only shown to people: invalid characters are replaced. */
  static byte[] told(String text) {
    return text.replace((char) 0, ' ').getBytes(StandardCharsets.UTF_8);
  }
}
