package org.forelock;

import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;

/** Settings in the native library; closed after their use. */
final class Config implements AutoCloseable {
  final long handle;

  private Config(long handle) {
    this.handle = handle;
  }

  static Config load(Path file) {
    return new Config(Native.configLoad(NativeLibrary.utf8(file.toString())));
  }

  /** Ignores keys that are not of this library: the properties are shared with the host application. */
  static Config of(Properties properties) {
    // As a text, so that names, escapes and defaults mean what they mean in a file.
    Properties all = new Properties();
    for (String key : properties.stringPropertyNames()) {
      all.setProperty(key, properties.getProperty(key));
    }
    StringWriter text = new StringWriter();
    try {
      all.store(text, null);
    } catch (IOException impossible) {
      throw new AssertionError(impossible);
    }
    return new Config(Native.configParse(NativeLibrary.told(text.toString()), NativeLibrary.utf8("Properties")));
  }

  /** Sets all of them or none; an unknown key is an error. */
  Config set(Map<String, String> values) {
    byte[][] keys = values.keySet().stream().map(NativeLibrary::utf8).toArray(byte[][]::new);
    byte[][] texts = values.values().stream().map(NativeLibrary::utf8).toArray(byte[][]::new);
    try {
      Native.configSetAll(handle, keys, texts);
    } catch (RuntimeException problem) {
      close();
      throw problem;
    }
    return this;
  }

  String get(String key) {
    return Failures.text(Native.configGet(handle, NativeLibrary.utf8(key)));
  }

  @Override
  public void close() {
    Native.configFree(handle);
  }
}
