// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.model;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;

/**
 * A durable timer, or its store, could not do what it was asked for. All failures of theirs are of
 * this type, those of bad arguments and of a closed timer apart.
 */
public class DurableTimerException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** Why it could not. */
  public enum Reason {
    /** There is such a timer already, and the call asked for there to be none. */
    EXISTS,
    /** The timer has another version than the call asked for. */
    VERSION_DIFFERS,
    /** The timer has the version that the call asked for, but has fired or was cancelled since. */
    FINISHED,
    /** The namespace has as many pending timers as it may have. */
    OVER_LIMIT,
    /**
     * As many changes wait for the store as may, and the timer was built to refuse more, or the
     * thread that waited for room was interrupted. Or another transaction has held the timer for
     * more than five seconds. Nothing was done.
     */
    BUSY,
    /** The store could not do it, and has not done it. */
    STORE_UNAVAILABLE,
    /** The store refused what was asked for. */
    REJECTED,
    /** An earlier request of the same request ID had another content. Nothing was done. */
    REQUEST_DIFFERS,
    /** It may have been done or not. Asking again with the same request id is safe. */
    UNKNOWN
  }

  /** Why it could not. */
  private final Reason reason;

  /** The version that the timer has. */
  private final long version;

  /**
   * Makes an exception.
   *
   * @param reason why
   * @param version the version that the timer has; 0 if there is none or it does not matter
   * @param message names the failure
   * @param cause what made it fail, or null
   */
  public DurableTimerException(
      Reason reason, long version, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.reason = requireNonNull(reason, "reason");
    this.version = version;
  }

  /** {@return why} */
  public Reason reason() {
    return reason;
  }

  /** {@return the version that the timer has; 0 if there is none or it does not matter} */
  public long version() {
    return version;
  }
}
