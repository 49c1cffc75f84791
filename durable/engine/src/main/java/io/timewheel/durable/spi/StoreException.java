// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.model.DurableTimerException;
import org.jspecify.annotations.Nullable;

/**
 * Thrown if a store operation fails. Applications see it only if they call a store directly, for
 * example to open it. A {@link io.timewheel.durable.DurableTimer} throws a {@link
 * DurableTimerException} with its own message instead.
 */
public class StoreException extends DurableTimerException {
  private static final long serialVersionUID = 1;

  /** The effect of the failed call. */
  public enum Kind {
    /** Nothing was applied. The same call may succeed soon. */
    TRANSIENT,
    /**
     * Nothing was applied, and no call succeeds until an operator fixes the cause, such as a full
     * or read-only disk.
     */
    UNAVAILABLE,
    /**
     * Nothing was applied, because the store refuses the content of the call. The same call never
     * succeeds. The engine repeats the changes of a batch one at a time to find the refused one.
     */
    REJECTED,
    /** The call may have been applied, wholly or in part. The store cannot find out. */
    UNKNOWN
  }

  /** The effect of the failed call. */
  private final Kind kind;

  /**
   * Creates the exception.
   *
   * @param kind the effect of the failed call
   * @param message describes the failure
   * @param cause the cause, or null
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

  /** {@return the effect of the failed call} */
  public Kind kind() {
    return kind;
  }
}
