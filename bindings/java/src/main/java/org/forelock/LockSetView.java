package org.forelock;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** A lock set as read from its nodes. Its records name the first members alone. */
public final class LockSetView {
  private final long[] numbers;
  private final OwnerRecord owner;
  private final String id;
  private final String waitsFor;
  private final String node;
  private final List<String> members;
  private final List<String> held;

  private LockSetView(long[] numbers, byte[][] texts, byte[][] names, long[] isHeld) {
    this.numbers = numbers;
    this.owner = numbers[Layouts.SeenSet.HAS_OWNER] == 0 ? null
        : new OwnerRecord(numbers, Layouts.SeenSet.OWNER, texts, Layouts.SeenSet.OWNER_TEXTS,
            numbers[Layouts.SeenSet.LINGER_MS]);
    this.id = Failures.text(texts[Layouts.SeenSet.ID]);
    this.waitsFor = Failures.text(texts[Layouts.SeenSet.WAITS_FOR]);
    this.node = Failures.text(texts[Layouts.SeenSet.HOLDER_NODE]);
    List<String> all = new ArrayList<>();
    List<String> had = new ArrayList<>();
    for (int i = 0; i < names.length; ++i) {
      String name = Failures.text(names[i]);
      all.add(name);
      if (isHeld[i] != 0) {
        had.add(name);
      }
    }
    this.members = List.copyOf(all);
    this.held = List.copyOf(had);
  }

  static LockSetView of(long view) {
    long[] numbers = new long[Layouts.SeenSet.NUMBERS];
    byte[][] texts = new byte[Layouts.SeenSet.TEXTS][];
    Native.viewSet(view, numbers, texts);
    byte[][] names = new byte[(int) numbers[Layouts.SeenSet.NAMED]][];
    long[] held = new long[names.length];
    Native.viewSetMembers(view, names, held);
    return new LockSetView(numbers, texts, names, held);
  }

  /**
   * Identifies the acquisition of the set.
   *
   * @return its id
   */
  public String id() {
    return id;
  }

  /**
   * The number of its members.
   *
   * @return the count
   */
  public long size() {
    return numbers[Layouts.SeenSet.MEMBERS];
  }

  /**
   * The members that its records name.
   *
   * @return in the order in which they are taken
   */
  public List<String> members() {
    return members;
  }

  /**
   * The members that it holds, of those that its records name.
   *
   * @return in the same order
   */
  public List<String> held() {
    return held;
  }

  /**
   * The number of members that it holds, including those that are not named.
   *
   * @return the count
   */
  public long heldCount() {
    return numbers[Layouts.SeenSet.HELD];
  }

  /**
   * The member in whose queue it waits.
   *
   * @return empty if it waits in none
   */
  public Optional<String> waitsFor() {
    return waitsFor.isEmpty() ? Optional.empty() : Optional.of(waitsFor);
  }

  /**
   * Whether that member is held; then the following methods describe its holder.
   *
   * @return false if it waits for none
   */
  public boolean behindHolder() {
    return numbers[Layouts.SeenSet.BEHIND_HOLDER] != 0;
  }

  /**
   * The record of that holder.
   *
   * @return empty if it left none that can be read
   */
  public Optional<OwnerRecord> holder() {
    return Optional.ofNullable(owner);
  }

  /**
   * The class of that holder.
   *
   * @return empty if it is unknown
   */
  public Optional<LockType> holderType() {
    long type = numbers[Layouts.SeenSet.HOLDER_PRIORITY];
    return type < 0 ? Optional.empty() : Optional.of(LockType.of(type));
  }

  /**
   * The contender node of that holder.
   *
   * @return empty if it has none
   */
  public String holderNode() {
    return node;
  }

  /**
   * The session of that holder.
   *
   * @return its id
   */
  public long holderSession() {
    return numbers[Layouts.SeenSet.HOLDER_SESSION];
  }

  /**
   * The fencing token of that holder.
   *
   * @return its token
   */
  public long holderToken() {
    return numbers[Layouts.SeenSet.HOLDER_TOKEN];
  }

  /**
   * The time for which that member has been held.
   *
   * @return by wall clocks
   */
  public Duration heldFor() {
    return Duration.ofMillis(numbers[Layouts.SeenSet.HELD_MS]);
  }

  @Override
  public String toString() {
    return "LockSetView(" + id + ", " + heldCount() + " of " + size() + " held"
        + (waitsFor.isEmpty() ? "" : ", waits for " + waitsFor) + (owner == null ? "" : ", held by " + owner) + ")";
  }
}
