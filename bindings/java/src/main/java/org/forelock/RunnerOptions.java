package org.forelock;

import java.time.Duration;

/** The waits and limits of an {@link OperationRunner}, beyond the client's settings. Immutable. */
public final class RunnerOptions {
  /** The defaults. */
  public static final RunnerOptions DEFAULT = new RunnerOptions(0, 0, 0, 0, 0);

  final long firstWaitMs;
  final long longestWaitMs;
  final long maxOperations;
  final long retryBurst;
  final double retriesPerSecond;

  private RunnerOptions(
      long firstWaitMs, long longestWaitMs, long maxOperations, long retryBurst, double retriesPerSecond) {
    this.firstWaitMs = firstWaitMs;
    this.longestWaitMs = longestWaitMs;
    this.maxOperations = maxOperations;
    this.retryBurst = retryBurst;
    this.retriesPerSecond = retriesPerSecond;
  }

  long[] numbers() {
    long[] numbers = new long[Layouts.RunnerOptions.NUMBERS];
    numbers[Layouts.RunnerOptions.BACKOFF_INITIAL_MS] = firstWaitMs;
    numbers[Layouts.RunnerOptions.BACKOFF_CAP_MS] = longestWaitMs;
    numbers[Layouts.RunnerOptions.MAX_OPERATIONS] = maxOperations;
    numbers[Layouts.RunnerOptions.RETRY_BURST] = retryBurst;
    numbers[Layouts.RunnerOptions.RETRIES_PER_SECOND] = Double.doubleToRawLongBits(retriesPerSecond);
    return numbers;
  }

  /**
   * Sets the waits between attempts: random, uniform between zero and a bound that doubles.
   *
   * @param first the bound before the first retry; zero: 100 ms
   * @param longest the bound's limit; zero: 10 s
   * @return options with it
   * @throws RequestRejectedException (INVALID_ARGUMENT) if one is negative
   */
  public RunnerOptions waits(Duration first, Duration longest) {
    return new RunnerOptions(Milliseconds.said(first, "the first wait"),
        Milliseconds.said(longest, "the longest wait"), maxOperations, retryBurst, retriesPerSecond);
  }

  /**
   * Limits the asynchronous operations under way; further ones are refused ({@link ErrorCode#OVERLOADED}).
   *
   * @param most their number, at most 1,000,000
   * @return options with it
   */
  public RunnerOptions maxOperations(int most) {
    return new RunnerOptions(firstWaitMs, longestWaitMs, most, retryBurst, retriesPerSecond);
  }

  /**
   * Limits the rate of retries of all runners of the client; its first runner decides. Each retry takes a token from a
   * bucket, and waits if none is left.
   *
   * @param burst tokens of a full bucket: 1 to 1,000,000
   * @param perSecond tokens added per second: 0.001 to 1,000,000
   * @return options with it
   */
  public RunnerOptions retryBudget(int burst, double perSecond) {
    return new RunnerOptions(firstWaitMs, longestWaitMs, maxOperations, burst, perSecond);
  }
}
