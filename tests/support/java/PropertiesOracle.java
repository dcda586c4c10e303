import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.StringReader;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Properties;

/**
 * Answers what java.util.Properties reads, for many files in one run.
 *
 * <p>In, for each file: its length (4 bytes, big-endian) and its bytes. Out, for each file: one byte, 0 = read, 1 =
 * Java refuses it, 2 = not UTF-8; after a 0 the number of keys, then each key and its value, as length and UTF-8. A
 * lone surrogate, which UTF-8 cannot hold, comes out as U+FFFD.
 */
public final class PropertiesOracle {
  /** Replaces lone surrogates as the keys come in, so that the last one wins among keys that become equal. */
  private static final class Utf8Properties extends Properties {
    private static final long serialVersionUID = 1L;

    @Override
    public synchronized Object put(Object key, Object value) {
      return super.put(wellFormed((String) key), wellFormed((String) value));
    }

    private static String wellFormed(String text) {
      StringBuilder out = new StringBuilder();
      text.codePoints().forEach(c -> out.appendCodePoint(c >= 0xD800 && c <= 0xDFFF ? 0xFFFD : c));
      return out.toString();
    }
  }

  private static void writeText(DataOutputStream out, Object text) throws IOException {
    byte[] bytes = ((String) text).getBytes(StandardCharsets.UTF_8);
    out.writeInt(bytes.length);
    out.write(bytes);
  }

  private static void answer(byte[] file, DataOutputStream out) throws IOException {
    Properties properties = new Utf8Properties();
    try {
      // A new decoder reports malformed input instead of replacing it.
      properties.load(new StringReader(StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(file)).toString()));
    } catch (CharacterCodingException e) {
      out.writeByte(2);
      return;
    } catch (IllegalArgumentException e) {
      out.writeByte(1);
      return;
    }
    out.writeByte(0);
    out.writeInt(properties.size());
    for (Map.Entry<Object, Object> entry : properties.entrySet()) {
      writeText(out, entry.getKey());
      writeText(out, entry.getValue());
    }
  }

  public static void main(String[] arguments) throws IOException {
    DataInputStream in = new DataInputStream(new BufferedInputStream(System.in));
    try (DataOutputStream out = new DataOutputStream(new BufferedOutputStream(System.out))) {
      while (true) {
        int length;
        try {
          length = in.readInt();
        } catch (EOFException e) {
          return;
        }
        answer(in.readNBytes(length), out);
      }
    }
  }
}
