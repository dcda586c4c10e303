import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import org.forelock.ForelockClient;

/** Loads the native library of the jar; with the jar's path as its argument, in two class loaders of their own too. */
public final class Probe {
  public static void main(String[] arguments) throws Exception {
    StringBuilder loaded = new StringBuilder("loaded " + ForelockClient.version());
    for (String jar : arguments) {
      for (int i = 0; i < 2; ++i) {
        URLClassLoader loader = new URLClassLoader(new URL[] {Path.of(jar).toUri().toURL()}, null);
        Class<?> client = loader.loadClass("org.forelock.ForelockClient");
        if (client == ForelockClient.class) {
          throw new IllegalStateException("it is the same class");
        }
        loaded.append(' ').append(client.getMethod("version").invoke(null));
      }
    }
    System.out.println(loaded);
  }
}
