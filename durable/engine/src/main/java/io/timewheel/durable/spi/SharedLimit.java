// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi;

/**
 * A limit that all sessions of a store share: how many attempts begin per second, and how many run
 * at the same time. After an idle second, a burst of one second's attempts, and at least one, may
 * begin at once.
 *
 * @param perSecond the largest rate, in attempts per second; 0 for no limit
 * @param maxRunning the largest number of running attempts; 0 for no limit
 */
public record SharedLimit(double perSecond, int maxRunning) {
  private static final long MILLIS = 1_000;

  /** The clocks of nodes differ by less. */
  private static final long CLOCK_STEP_MILLIS = 5_000;

  /**
   * Checks the ranges.
   *
   * @param perSecond the largest rate, in attempts per second; 0 for no limit
   * @param maxRunning the largest number of running attempts; 0 for no limit
   */
  public SharedLimit {
    if (!(perSecond >= 0 && perSecond <= 1e9) || maxRunning < 0) {
      throw new IllegalArgumentException(
          "limit: " + perSecond + "/s, " + maxRunning + " running (expected: 0 or more)");
    }
  }

  /**
   * The tokens of a limit at a time. Each token allows one attempt to begin.
   *
   * @param count the number of tokens
   * @param atMillis the time of that number
   */
  public record Tokens(double count, long atMillis) {
    /**
     * Takes the tokens of attempts.
     *
     * @param attempts the number of attempts
     * @return the other tokens
     */
    public Tokens minus(int attempts) {
      return new Tokens(count - attempts, atMillis);
    }
  }

  /** {@return the number of tokens of an unused limit} */
  public double burst() {
    return Math.max(1, perSecond);
  }

  /**
   * Refills tokens. The nodes' clocks differ, so the time of the tokens does not go back: otherwise
   * the same time would be counted twice. After the clock was set back by more than 5 s, the limit
   * is as if it were unused.
   *
   * @param before the previous tokens
   * @param nowMillis the present time
   * @return the present tokens
   */
  public Tokens refilled(Tokens before, long nowMillis) {
    if (before.atMillis() - nowMillis > CLOCK_STEP_MILLIS) {
      return new Tokens(burst(), nowMillis);
    }
    long atMillis = Math.max(before.atMillis(), nowMillis);
    double gained = (double) (atMillis - before.atMillis()) * perSecond / MILLIS;
    return new Tokens(Math.min(burst(), before.count() + gained), atMillis);
  }

  /**
   * Returns how many attempts may begin.
   *
   * @param tokens the present tokens
   * @param running the number of running attempts
   * @return zero or more
   */
  public int admitted(Tokens tokens, long running) {
    double byRate = perSecond > 0 ? Math.floor(tokens.count()) : Integer.MAX_VALUE;
    long byNumber = maxRunning > 0 ? Math.max(0, maxRunning - running) : Integer.MAX_VALUE;
    return (int) Math.min(Math.max(0, byRate), (double) byNumber);
  }

  /**
   * Returns the time until the next token.
   *
   * @param tokens the present number of tokens
   * @return milliseconds, 10 to 1,000
   */
  public long waitMillis(double tokens) {
    double missing = perSecond > 0 ? (1 - tokens) * MILLIS / perSecond : 0;
    return (long) Math.ceil(Math.min(MILLIS, Math.max(10, missing)));
  }
}
