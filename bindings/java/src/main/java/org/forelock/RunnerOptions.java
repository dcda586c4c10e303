package org.forelock;

import java.time.Duration;

/** How an {@link OperationRunner} waits and limits itself, beyond what the client's settings say. Immutable. */
public final class RunnerOptions {
  /** Everything as it is by default. */
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
   * How long to wait between attempts: uniformly between nothing and a bound that doubles.
   *
   * @param first the bound before the first retry; zero: 100 ms
   * @param longest the bound never grows beyond; zero: 10 s
   * @return options with it
   * @throws RequestRejectedException (INVALID_ARGUMENT) if one is negative
   */
  public RunnerOptions waits(Duration first, Duration longest) {
    return new RunnerOptions(Milliseconds.said(first, "the first wait"),
        Milliseconds.said(longest, "the longest wait"), maxOperations, retryBurst, retriesPerSecond);
  }

  /**
   * How many asynchronous operations may be under way; more are refused ({@link ErrorCode#OVERLOADED}).
   *
   * @param most their number, at most 1,000,000
   * @return options with it
   */
  public RunnerOptions maxOperations(int most) {
    return new RunnerOptions(firstWaitMs, longestWaitMs, most, retryBurst, retriesPerSecond);
  }

  /**
   * The rate of retries of all runners of the client, whose first runner decides: each takes a token out of a bucket,
   * and waits where none is left.
   *
   * @param burst tokens that a full bucket has: 1 to 1,000,000
   * @param perSecond how fast it fills: 0.001 to 1,000,000
   * @return options with it
   */
  public RunnerOptions retryBudget(int burst, double perSecond) {
    return new RunnerOptions(firstWaitMs, longestWaitMs, maxOperations, burst, perSecond);
  }
}
