package org.forelock;

/** What became of a dead letter that is not done. */
public enum ReplayOutcome {
  /** The handler put it off, its lock was lost, or the replay was stopped; not counted. */
  LATER,
  /** Counted; the next replay tries it again. */
  FAILED,
  /** Failed once too often; later ones of its monitor go on. */
  PARKED,
  /** Its monitor's lock was not to be had in time; not counted. */
  LOCKED_OUT,
  /** An earlier one of its monitor failed or has to wait. */
  SKIPPED,
  /** Not a letter, or one of a newer version; left alone. */
  UNREADABLE
}
