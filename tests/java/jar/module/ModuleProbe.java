package probe;

import org.forelock.ForelockClient;

/** Loads the native library as a module does. */
public final class ModuleProbe {
  public static void main(String[] arguments) {
    String module = ForelockClient.class.getModule().getName();
    System.out.println("loaded " + ForelockClient.version() + " in module " + module);
  }
}
