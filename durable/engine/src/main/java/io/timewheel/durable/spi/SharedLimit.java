// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi;

/**
 * A limit of all sessions of a store together: how many attempts begin each second, and how many
 * run at a time. Up to one second's worth of attempts, and at least one, may begin at once after a
 * pause.
 *
 * @param perSecond the rate; 0 for any
 * @param maxRunning the largest number of attempts that run; 0 for any
 */
public record SharedLimit(double perSecond, int maxRunning) {
  private static final long MILLIS = 1_000;

  /**
   * Checks the numbers.
   *
   * @param perSecond the rate; 0 for any
   * @param maxRunning the largest number of attempts that run; 0 for any
   */
  public SharedLimit {
    if (!(perSecond >= 0 && perSecond <= 1e9) || maxRunning < 0) {
      throw new IllegalArgumentException(
          "limit: " + perSecond + "/s, " + maxRunning + " running (expected: 0 or more)");
    }
  }

  /** {@return the tokens of a limit that nobody has used} */
  public double burst() {
    return Math.max(1, perSecond);
  }

  /**
   * Refills tokens.
   *
   * @param tokens how many there were
   * @param atMillis at that time
   * @param nowMillis the present time
   * @return how many there are; each lets one attempt begin
   */
  public double refilled(double tokens, long atMillis, long nowMillis) {
    double gained = (double) Math.max(0, nowMillis - atMillis) * perSecond / MILLIS;
    return Math.min(burst(), tokens + gained);
  }

  /**
   * Returns how many attempts may begin.
   *
   * @param tokens the tokens that there are
   * @param running how many attempts run
   * @return zero or more
   */
  public int admitted(double tokens, long running) {
    double byRate = perSecond > 0 ? Math.floor(tokens) : Integer.MAX_VALUE;
    long byNumber = maxRunning > 0 ? Math.max(0, maxRunning - running) : Integer.MAX_VALUE;
    return (int) Math.min(Math.max(0, byRate), (double) byNumber);
  }

  /**
   * Returns the time until the next token.
   *
   * @param tokens the tokens that there are
   * @return milliseconds, 10 to 1,000
   */
  public long waitMillis(double tokens) {
    double missing = perSecond > 0 ? (1 - tokens) * MILLIS / perSecond : 0;
    return (long) Math.ceil(Math.min(MILLIS, Math.max(10, missing)));
  }
}
