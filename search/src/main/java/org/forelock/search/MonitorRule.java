package org.forelock.search;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.zip.CRC32;

/** A MonitorRule maps documents to the monitors that guard them: {@code index.forelock.monitor}. Immutable. */
public final class MonitorRule {
  /** {@code <index>/<_id>}, which no other index shares. */
  public static final String DEFAULT = "document";

  private static final String FIELD = "field:";
  private static final String BUCKET = "bucket:";
  private static final int MAX_ENCODED_BYTES = 255;
  private static final int MAX_BUCKETS = 65_536;

  private final String text;
  /** 0: no rule of buckets. */
  private final int buckets;

  private MonitorRule(String text, int buckets) {
    this.text = text;
    this.buckets = buckets;
  }

  /**
   * Reads the setting.
   *
   * @throws IllegalArgumentException if it is none
   */
  public static MonitorRule parse(String text) {
    int buckets = buckets(text);
    boolean known = text.equals(DEFAULT) || text.equals("id") || text.equals("routing") || buckets > 0
        || text.startsWith(FIELD) && text.length() > FIELD.length();
    if (!known) {
      throw new IllegalArgumentException("index.forelock.monitor: '" + text
          + "' is invalid; write document, id, routing, field:NAME, or bucket:N with N from 1 to " + MAX_BUCKETS);
    }
    return new MonitorRule(text, buckets);
  }

  /** Digits alone: one number, one spelling. */
  private static int buckets(String text) {
    String number = text.startsWith(BUCKET) ? text.substring(BUCKET.length()) : "";
    if (!number.matches("[1-9][0-9]{0,4}")) {
      return 0;
    }
    int buckets = Integer.parseInt(number);
    return buckets <= MAX_BUCKETS ? buckets : 0;
  }

  /** Whether the monitor depends on the document's id alone. */
  public boolean byId() {
    return text.equals(DEFAULT) || text.equals("id") || buckets > 0;
  }

  /**
   * The monitor of one write.
   *
   * @param index the concrete index
   * @param routing the routing value in force, which an alias may have added; may be null
   * @throws IllegalArgumentException if the write does not determine it
   */
  public String monitor(String index, Document write, String routing) {
    if (text.equals(DEFAULT)) {
      return document(index, given(write.id(), write, "an _id"));
    }
    if (buckets > 0) {
      return document(index, "~" + bucket(given(write.id(), write, "an _id")));
    }
    if (text.equals("id")) {
      return required(write.id(), write, "an _id");
    }
    if (text.equals("routing")) {
      return required(routing, write, "a routing value");
    }
    return required(field(write), write, "the field '" + fieldName() + "' in what is sent");
  }

  /** The same in every program and version: by the CRC-32 of the id in UTF-8. */
  private long bucket(String id) {
    CRC32 crc = new CRC32();
    crc.update(id.getBytes(StandardCharsets.UTF_8));
    return crc.getValue() % buckets;
  }

  /** Whether its monitors are few, whatever is written, so that they may stay when they are unused. */
  public boolean keepsMonitors() {
    return buckets > 0;
  }

  private String fieldName() {
    return text.substring(FIELD.length());
  }

  private String field(Document document) {
    Object value = document.field(fieldName());
    return value instanceof String || value instanceof Number || value instanceof Boolean ? value.toString() : null;
  }

  private String required(String value, Document write, String what) {
    given(value, write, what);
    if (encodedBytes(value) > MAX_ENCODED_BYTES) {
      throw new IllegalArgumentException("index.forelock.monitor is '" + text + "': what document [" + write.id()
          + "] says is longer than " + MAX_ENCODED_BYTES + " bytes after encoding");
    }
    return value;
  }

  /** Refuses a document without a monitor alone, whatever else comes with it. */
  private String given(String value, Document write, String what) {
    if (value == null || value.isEmpty()) {
      throw new IllegalArgumentException("index.forelock.monitor is '" + text + "': the "
          + write.operation() + " of document [" + write.id() + "] needs " + what);
    }
    if (value.indexOf('\0') >= 0) {
      throw new IllegalArgumentException("index.forelock.monitor is '" + text + "': no monitor has the character 0, as "
          + "what the " + write.operation() + " of document [" + write.id() + "] says");
    }
    if (!StandardCharsets.UTF_8.newEncoder().canEncode(value)) {
      throw new IllegalArgumentException("index.forelock.monitor is '" + text + "': no monitor has half of a surrogate "
          + "pair, which is no character, as what the " + write.operation() + " of a document says");
    }
    return value;
  }

  /** The monitor of a document; a name that is too long ends with a digest of the whole. */
  public static String document(String index, String id) {
    String whole = index + "/" + id;
    if (encodedBytes(whole) <= MAX_ENCODED_BYTES) {
      return whole;
    }
    String digest = "~" + sha256(whole);
    int end = 0;
    int room = MAX_ENCODED_BYTES - digest.length();
    while (true) {
      int next = whole.offsetByCodePoints(end, 1);
      room -= encodedBytes(whole.substring(end, next));
      if (room < 0) {
        return whole.substring(0, end) + digest;
      }
      end = next;
    }
  }

  /** An upper bound: a byte of a character that needs an escape becomes three. */
  private static int encodedBytes(String text) {
    int bytes = 0;
    for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
      bytes += b > ' ' && b < 0x7f && b != '/' && b != '%' ? 1 : 3;
    }
    return bytes;
  }

  private static String sha256(String text) {
    try {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(digest);
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
