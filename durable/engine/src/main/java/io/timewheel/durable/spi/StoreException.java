// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.model.DurableTimerException;
import org.jspecify.annotations.Nullable;

/**
 * A store could not do what it was asked for. A user meets it where he calls a store himself, as to
 * open it; a {@link io.timewheel.durable.DurableTimer} says the same with its own words.
 */
public class StoreException extends DurableTimerException {
  private static final long serialVersionUID = 1;

  /** What is known about the call that failed. */
  public enum Kind {
    /** Nothing was done, and the same may go well in a moment. */
    TRANSIENT,
    /** Nothing was done, and nothing will be until somebody mends it: disk full, read-only. */
    UNAVAILABLE,
    /**
     * Nothing was done because of what was asked, and never will be. If it was a batch, the engine
     * asks for one change at a time to find out which.
     */
    REJECTED,
    /** It may have been done, wholly or in part, and the store cannot find out. */
    UNKNOWN
  }

  /** What is known about the call that failed. */
  private final Kind kind;

  /**
   * Makes an exception.
   *
   * @param kind what is known
   * @param message names the failure
   * @param cause why, or null
   */
  public StoreException(Kind kind, String message, @Nullable Throwable cause) {
    super(reason(kind), 0, message, cause);
    this.kind = kind;
  }

  private static Reason reason(Kind kind) {
    return switch (requireNonNull(kind, "kind")) {
      case TRANSIENT, UNAVAILABLE -> Reason.STORE_UNAVAILABLE;
      case REJECTED -> Reason.REJECTED;
      case UNKNOWN -> Reason.UNKNOWN;
    };
  }

  /** {@return what is known about the call that failed} */
  public Kind kind() {
    return kind;
  }
}
