package org.forelock.search;

import org.forelock.ErrorCode;
import org.forelock.FailedAttempt;
import org.forelock.ForelockException;
import org.forelock.LockType;
import org.forelock.MonitorView;

/** The answers to writes that are not done: a status, a stable code, and the reason in words. */
public final class Refusals {
  private static final int FORBIDDEN = 403;
  public static final int NOT_FOUND = 404;
  public static final int TOO_MANY_REQUESTS = 429;
  private static final int ACCEPTED = 202;
  private static final int BAD_REQUEST = 400;
  public static final int CONFLICT = 409;
  private static final int TOO_LARGE = 413;
  private static final int ERROR = 500;
  public static final int UNAVAILABLE = 503;
  private static final String NOT_HELD = "not_held";

  private Refusals() {}

  /** One for which there is no other method. @param status of HTTP */
  public static Refusal of(int status, String code, String monitor, String message) {
    return new Refusal(status, code, monitor, message);
  }

  /** The lock was not obtained; the library's message has the reason. */
  public static Refusal notObtained(ForelockException reason) {
    return of(status(reason.code()), name(reason.code()), reason.monitor(), text(reason, ""));
  }

  private static String text(ForelockException reason, String holder) {
    return reason.getMessage() + holder + (reason.hint().isEmpty() ? "" : " (" + reason.hint() + ")");
  }

  /**
   * The lock of one document that others kept, whatever the outcome of the rest of its request.
   *
   * @param reason null: there was no try left for it
   * @param holder a sentence about the holder; may be empty
   */
  public static Refusal kept(String monitor, ForelockException reason, String holder) {
    String message = reason == null
        ? "the lock on " + monitor + " was not tried: others keep too many of the request's documents"
        : text(reason, holder);
    return of(status(ErrorCode.LOCK_TIMEOUT), name(ErrorCode.LOCK_TIMEOUT), monitor, message);
  }

  /** Whether ZooKeeper is the reason, as opposed to a lock that others hold. */
  public static boolean unavailable(ErrorCode code) {
    return away(code) || code == ErrorCode.SESSION_EXPIRED;
  }

  /** Whether no ZooKeeper server can be reached. A session that has ended was ended by one that is there. */
  public static boolean away(ErrorCode code) {
    return code == ErrorCode.CONNECTION_LOSS;
  }

  private static int status(ErrorCode code) {
    switch (code) {
      case LOCK_UNHEALTHY:
      case CANCELLED:
        return CONFLICT;
      case INVALID_ARGUMENT:
        return BAD_REQUEST;
      case REQUEST_TOO_LARGE:
        return TOO_LARGE;
      case LOCK_TIMEOUT: // who sends in bulk gives up at a conflict, and tries again at this
      case LOCK_UNAVAILABLE:
      case LOCK_REFUSED:
      case OVERLOADED:
        return TOO_MANY_REQUESTS;
      case CONNECTION_LOSS:
      case SESSION_EXPIRED:
      case CLOSED:
        return UNAVAILABLE;
      default: // clients send again what has 503, and this wants somebody to look at it
        return ERROR;
    }
  }

  /** A single try after the deadline counts as not obtained in time. */
  private static String name(ErrorCode code) {
    return Names.of(code == ErrorCode.LOCK_UNAVAILABLE ? ErrorCode.LOCK_TIMEOUT : code);
  }

  public static Refusal tooMany(LockType type) {
    return of(TOO_MANY_REQUESTS, "too_many_held", "",
        "so many requests wait for locks on this node that no more " + Names.of(type)
            + " ones are taken; try again later");
  }

  /** It alone is more than may be held. */
  public static Refusal tooLarge(LockType type, long bytes, long most) {
    return of(TOO_LARGE, "too_large", "", "it takes " + bytes
        + " bytes to hold, and forelock." + Names.of(type) + ".max_bytes permits " + most
        + " for all requests together; send it in smaller parts, or raise that setting; nothing was written");
  }

  public static Refusal uncertain(String monitor) {
    return of(CONFLICT, name(ErrorCode.LOCK_UNHEALTHY), monitor,
        "the lock was not certain any more when the write was to be done; nothing was written");
  }

  /** @param again the node that refuses knows that the cluster has sent the write before */
  public static Refusal uncertain(String monitor, boolean again) {
    return !again ? uncertain(monitor) : of(ERROR, "outcome_unknown", monitor,
        "the cluster has sent the write again, and the lock was not certain any more then; whether an earlier attempt "
            + "was done is not known: read the document");
  }

  /** Not written; the write is in the dead-letter queue. */
  public static Refusal queued(String monitor, String letter, String reason) {
    return new Refusal(ACCEPTED, "queued", monitor,
        "not written yet: the write is dead letter " + letter + "; " + reason, letter);
  }

  /** Neither written nor queued. */
  public static Refusal notQueued(String monitor, FailedAttempt last, String reason) {
    return of(CONFLICT, last.code(), monitor,
        last.message() + "; the write is in no queue, either: " + reason);
  }

  /** The client says that it holds the lock, and ZooKeeper does not. @param holder null: none */
  public static Refusal notHeld(String monitor, long token, MonitorView holder) {
    String who = holder == null ? "nobody holds it"
        : "it is held with the token " + holder.holderToken() + " by "
            + holder.owner().map(owner -> owner.instance() + " for \"" + owner.lockInfo() + "\"")
                .orElse("session " + LocksJson.hex(holder.holderSession()));
    return of(CONFLICT, NOT_HELD, monitor, "the lock on " + monitor + " is not held with the token " + token
        + " that " + Headers.HELD + " has: " + who + "; nothing was written. Lock it again and read the document anew");
  }

  /** The client names the locks that it holds, and not this one. */
  public static Refusal notNamed(String monitor, String names) {
    return of(CONFLICT, NOT_HELD, monitor, "the write needs the lock on " + monitor + ", and "
        + Headers.HELD + " names " + names + "; nothing was written. Hold that lock as well, or write it by itself");
  }

  /** Whether the client holds the lock could not be seen. */
  public static Refusal notLooked(String monitor) {
    return of(TOO_MANY_REQUESTS, name(ErrorCode.OVERLOADED), monitor, "whether the lock on " + monitor
        + " is held as " + Headers.HELD + " says was not seen in time: too many looks wait; nothing was written");
  }

  /** The lock is held, and its token is below what the document has all the same. */
  public static Refusal tokenTooLow(String id, long token) {
    return of(CONFLICT, "token_too_low", "", "document [" + id + "] has a version above " + token + ", that of the "
        + "token of its lock, which is held: the version is from another ZooKeeper, as after a restore or a reset, or "
        + "the document was written without a lock; nothing was written. POST _plugins/_forelock/_refence/{index} "
        + "raises the tokens of the index above its versions");
  }

  /** The client asks to be foreground. */
  public static Refusal foregroundNotPermitted() {
    return of(FORBIDDEN, "foreground_not_permitted", "", "the request asks to be foreground, and no role of its user "
        + "permits cluster:admin/forelock/foreground, as forelock.foreground.restricted wants; nothing was done. Send "
        + "it as background, or without a priority");
  }

  /** The client does not want it to be written without a lock. */
  public static Refusal notGuarded(String index) {
    return of(CONFLICT, "not_guarded", "", "the index [" + index
        + "] is not guarded, and " + Headers.REQUIRED + " or " + Headers.HELD
        + " asks for a lock; set index.forelock.enabled");
  }

  /** A write came to its primary past all locks. */
  public static Refusal unlocked() {
    return of(CONFLICT, "unlocked", "", "the write came without a lock, through a node without the plugin or on the "
        + "account of a node, and forelock.strict is set; nothing of this shard's part was written. Send it through "
        + "another node");
  }

  /** A lock of this node would exclude too few others. @param who has which namespace */
  public static Refusal otherZooKeeper(String own, String who) {
    return of(UNAVAILABLE, "other_zookeeper", "", "the locks of this node are in the ZooKeeper namespace " + own
        + ", which is not that of most nodes: " + who + "; nothing was written. Give all nodes the same "
        + "forelock.zookeeper.servers");
  }

  /** The node that has given a lease does not answer. */
  public static Refusal leaseUnknown(String id, String problem) {
    return of(UNAVAILABLE, "unavailable", "", "the node that has given the lease " + id + " does not answer: " + problem
        + "; try again while its time is not over");
  }

  public static Refusal cancelled(String reason) {
    return of(CONFLICT, name(ErrorCode.CANCELLED), "", "the wait for the lock was cancelled: " + reason);
  }

  public static Refusal closing() {
    return of(UNAVAILABLE, name(ErrorCode.CLOSED), "",
        "the node is shutting down; nothing was written");
  }
}
