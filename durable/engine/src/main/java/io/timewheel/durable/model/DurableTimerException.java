// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.model;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;

/**
 * Thrown if an operation of a durable timer or of its store fails. Invalid arguments throw an
 * {@link IllegalArgumentException}, and calls after the close an {@link IllegalStateException}.
 */
public class DurableTimerException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** The reason for the failure. */
  public enum Reason {
    /** The timer exists, but the call requires that it does not. */
    EXISTS,
    /** The timer does not have the version that the call requires. */
    VERSION_DIFFERS,
    /** The timer has the required version, but has fired or was cancelled since. */
    FINISHED,
    /** The namespace has reached its limit of pending timers. */
    OVER_LIMIT,
    /**
     * The write queue is full, and the scheduler was built to refuse further changes, or the thread
     * that waited for room was interrupted. Or another transaction has locked the timer for more
     * than five seconds. Nothing was changed.
     */
    BUSY,
    /** The store is unavailable. Nothing was changed. */
    STORE_UNAVAILABLE,
    /** The store refused the content of the call. */
    REJECTED,
    /** An earlier request with the same request ID had different content. Nothing was changed. */
    REQUEST_DIFFERS,
    /** The change may have been committed or not. A retry with the same request ID is safe. */
    UNKNOWN
  }

  /** The reason for the failure. */
  private final Reason reason;

  /** The present version of the timer. */
  private final long version;

  /**
   * Creates the exception.
   *
   * @param reason the reason for the failure
   * @param version the present version of the timer; 0 if it has none or if it does not matter
   * @param message describes the failure
   * @param cause the cause, or null
   */
  public DurableTimerException(
      Reason reason, long version, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.reason = requireNonNull(reason, "reason");
    this.version = version;
  }

  /** {@return the reason for the failure} */
  public Reason reason() {
    return reason;
  }

  /** {@return the present version of the timer; 0 if it has none or if it does not matter} */
  public long version() {
    return version;
  }
}
